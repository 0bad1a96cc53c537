"""The command line, ``igz-clusters``."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        # The imports take a moment, in which Ctrl-C is no error either.
        from workbench.cli.app import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(130)
