"""Ownership of a stack name on this machine.

The local cluster and its state are named after the stack alone. Two repositories with a stack of the same name would
change each other's cluster, so the first stack file that uses a name owns it until the stack is destroyed. A file of
an installed package loses the name to another file: users copy it to change it, and each release has its own folder.
"""

import shlex
from contextlib import suppress
from pathlib import Path

from workbench.stacks import Stack
from workbench.system.errors import UserError
from workbench.system.installation import is_from_wheel
from workbench.system.paths import PRIVATE, data_dir


def claim(stack: Stack) -> str:
    """Make ``stack.file`` the owner of the stack's name on this machine.

    Returns
    -------
    str
        A sentence for the user if another file owned it, which lost it or no longer exists, for example after a
        repository was moved; else empty.

    Raises
    ------
    UserError
        Another stack file owns the name.
    """
    link = _link(stack.name)
    with suppress(FileExistsError):
        link.symlink_to(stack.file)  # atomic: of two concurrent first commands, one wins
    owner = link.readlink()
    if owner == stack.file:
        return ""
    if owner.exists() and not is_from_wheel(owner.parent):
        free = f"igz-clusters -C {shlex.quote(str(owner.parent))} destroy {stack.name}"
        raise UserError(
            f"Cluster and state '{stack.name}' on this machine belong to {owner}, not to {stack.file}.",
            f"Give this stack another name by renaming its file, or free the name: {free}\n"
            "To keep both under one name, set IGZ_CLUSTERS_DATA to another folder for one of them.",
        )
    link.unlink()
    link.symlink_to(stack.file)
    return f"Cluster and state '{stack.name}' on this machine now belong to {stack.file}, no longer to {owner}."


def release(stack: Stack) -> None:
    """Release the name of a destroyed stack."""
    _link(stack.name).unlink(missing_ok=True)


def _link(name: str) -> Path:
    """Return the symbolic link from a stack's name to its owner."""
    folder = data_dir() / "owners"
    folder.mkdir(exist_ok=True, mode=PRIVATE)
    return folder / name
