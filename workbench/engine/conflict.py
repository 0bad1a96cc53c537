"""Conflicts between a live cluster and a stack, which refuse a change."""

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from workbench.system.errors import UserError


@dataclass(frozen=True)
class Conflict:
    """A conflict between the cluster and the stack file."""

    where: str
    """An object in the cluster, or a path in the stack file."""
    found: str
    required: str
    step: str
    """What to do next."""

    @override
    def __str__(self) -> str:
        """Return the conflict and the next step, one line each."""
        return f"- {self.where}: found {self.found}; required {self.required}.\n  {self.step}"


def require_none(stack: str, conflicts: Sequence[Conflict]) -> None:
    """Refuse a change of a stack if there are conflicts.

    Raises
    ------
    UserError
        There are; lists all of them.
    """
    if conflicts:
        count = "1 conflict" if len(conflicts) == 1 else f"{len(conflicts)} conflicts"
        listed = "\n".join(map(str, conflicts))
        raise UserError(f"{count} in the cluster of '{stack}':\n{listed}", "Nothing was changed.")
