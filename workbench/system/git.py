"""Git, as a program that may be missing and that never changes what it reads."""

import os
import subprocess
from pathlib import Path

from workbench.system.errors import UserError


def git(folder: Path, *arguments: str, **variables: str) -> str | None:
    """Return what Git prints in ``folder``, without trailing white space; None if it fails.

    Parameters
    ----------
    variables
        Further variables of its environment.

    Raises
    ------
    UserError
        Git is not installed.
    """
    # A file system monitor would run a program chosen by the checkout.
    command = ["git", "-C", str(folder), "-c", "core.fsmonitor=false", *arguments]
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", **variables}
    try:
        run = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        raise UserError("Git is not installed.", "Install `git` and try again.") from None
    return None if run.returncode else run.stdout.rstrip()
