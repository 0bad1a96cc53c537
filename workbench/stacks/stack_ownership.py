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
    link.parent.mkdir(exist_ok=True, mode=PRIVATE)
    with suppress(FileExistsError):
        link.symlink_to(stack.file)  # atomic: of two concurrent first commands, one wins
    if not (former := _former_owner(stack)):
        return ""
    link.unlink()
    link.symlink_to(stack.file)
    return f"Cluster and state '{stack.name}' on this machine now belong to {stack.file}, no longer to {former}."


def check(stack: Stack) -> str:
    """Check that a command may read the cluster and the state of ``stack``; unlike ``claim``, change nothing.

    Returns
    -------
    str
        A sentence for the user if the next change gives them to ``stack.file``; else empty.

    Raises
    ------
    UserError
        Another stack file owns the name.
    """
    if not (former := _former_owner(stack)):
        return ""
    up = f"`igz-clusters up {stack.name}` gives them to {stack.file}."
    return f"Cluster and state '{stack.name}' on this machine belong to {former}. {up}"


def release(stack: Stack) -> None:
    """Release the name of a destroyed stack."""
    _link(stack.name).unlink(missing_ok=True)


def _former_owner(stack: Stack) -> Path | None:
    """Return the stack file that owns the name and loses it to ``stack.file``; None if there is none.

    Raises
    ------
    UserError
        It does not lose the name.
    """
    try:
        owner = _link(stack.name).readlink()
    except FileNotFoundError:
        return None
    if owner == stack.file:
        return None
    if owner.exists() and not is_from_wheel(owner.parent):
        free = f"igz-clusters -C {shlex.quote(str(owner.parent))} destroy {stack.name}"
        raise UserError(
            f"Cluster and state '{stack.name}' on this machine belong to {owner}, not to {stack.file}.",
            f"Give this stack another name by renaming its file, or free the name: {free}\n"
            "To keep both under one name, set IGZ_CLUSTERS_DATA to another folder for one of them.",
        )
    return owner


def _link(name: str) -> Path:
    """Return the symbolic link from a stack's name to its owner."""
    return data_dir() / "owners" / name
