"""What a change or a destroy must not ask for, and what to do instead."""

from dataclasses import dataclass

from typing_extensions import override


@dataclass(frozen=True)
class Blocker:
    """Something that a change must not ask for."""

    where: str
    """In the stack file, or in the cloud."""
    what: str
    """What was asked for, and what is there."""
    allowed: str
    step: str
    """What to do next."""

    @override
    def __str__(self) -> str:
        """Return all of it, in two lines."""
        return f"- {self.where}: {self.what}; {self.allowed}.\n  {self.step}"
