"""The command line, ``igz-clusters``."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        # Imported here, so that Ctrl-C during the imports ends without a traceback too.
        from workbench.cli.app import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(130)
