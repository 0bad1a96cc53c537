"""The command line, ``igz-clusters``."""

import os
import sys


def main() -> None:
    """Run the command line."""
    # A `yaml.py` on the user's PYTHONPATH must not replace the installed one.
    users = [os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]  # noqa: PTH100 pathlib takes longer to import
    sys.path.sort(key=lambda each: each in users)
    try:
        # Imported here, so that Ctrl-C during the imports ends without a traceback too.
        from workbench.system.errors import UserError  # noqa: PLC0415
        from workbench.system.installation import require_own_environment  # noqa: PLC0415

        try:
            require_own_environment()
        except UserError as error:  # the command line itself may import the other software's packages
            sys.exit(f"error: {error}")
        from workbench.cli.app import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(130)
