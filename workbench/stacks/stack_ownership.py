"""Whose are the local cluster and state of a stack's name.

Both are named by the stack alone. Two repositories with a stack of the same name would change each other's cluster, so
the first stack file that uses a name owns it until it is destroyed.
"""

import shlex
from contextlib import suppress
from pathlib import Path

from workbench.stacks import Stack
from workbench.system.errors import UserError
from workbench.system.paths import PRIVATE, data_dir


def claim(stack: Stack) -> Path | None:
    """Make ``stack.file`` the owner of the stack's name on this machine, if it is not yet.

    Returns
    -------
    Path | None
        The owner until now if its file is gone, as after a repository was moved; else None.

    Raises
    ------
    UserError
        Another stack file owns the name.
    """
    mark = _mark(stack.name)
    with suppress(FileExistsError):
        mark.symlink_to(stack.file)  # one step: of two first commands at once, one wins
    owner = mark.readlink()
    if owner == stack.file:
        return None
    if owner.exists():
        free = f"igz-clusters -C {shlex.quote(str(owner.parent))} destroy {stack.name}"
        raise UserError(
            f"Cluster and state '{stack.name}' on this machine are of {owner}, not of {stack.file}.",
            f"Give this stack another name by renaming its file, or free the name: {free}\n"
            "To keep both under one name, set IGZ_CLUSTERS_DATA to another folder for one of them.",
        )
    mark.unlink()
    mark.symlink_to(stack.file)
    return owner


def release(stack: Stack) -> None:
    """Free the name of a stack that was destroyed."""
    _mark(stack.name).unlink(missing_ok=True)


def _mark(name: str) -> Path:
    """Return the symbolic link from a stack's name to its owner."""
    folder = data_dir() / "owners"
    folder.mkdir(exist_ok=True, mode=PRIVATE)
    return folder / name
