"""Reasons to refuse a change or a destroy, and what to do instead."""

from dataclasses import dataclass

from typing_extensions import override


@dataclass(frozen=True)
class Blocker:
    """A reason to refuse a change."""

    where: str
    """Path in the stack file, or a resource in the cloud."""
    what: str
    """Requested and current value."""
    allowed: str
    """What would be accepted."""
    step: str
    """What to do next."""

    @override
    def __str__(self) -> str:
        """Return the reason and the next step, one line each."""
        return f"- {self.where}: {self.what}; {self.allowed}.\n  {self.step}"
