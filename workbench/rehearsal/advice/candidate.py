"""One change that may meet missed expectations."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from workbench.rehearsal.advice.edits import Edit

Make = Callable[[int], tuple[Edit, ...]]


@dataclass(frozen=True)
class Candidate:
    """Edits, or a family of edits with one number in it.

    Parameters
    ----------
    make
        Returns the edits for a number; fixed edits ignore it.
    number
        A number that is certainly enough; tried first.
    least
        The smallest change that is worth a try; equal to ``number`` for fixed edits. It may be above ``number`` if a
        smaller number is the larger change.
    """

    make: Make
    number: int = 0
    least: int = 0

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits with the first number."""
        return self.make(self.number)


def fixed(*edits: Edit) -> Candidate:
    """Return the candidate of edits without a number."""
    return Candidate(lambda _: edits)


def key_of(edits: Iterable[Edit]) -> tuple[str, ...]:
    """Return what distinguishes two sets of edits."""
    return tuple(sorted(f"{edit.file} {edit.path!r} {edit.value!r}" for edit in edits))


def stack_edit(why: str, value: Any, *path: str) -> Edit:
    """Return an edit of the stack file."""
    return Edit(tuple(path), value, why)


def work_edit(why: str, work: str, value: Any, *path: str) -> Edit:
    """Return an edit of a scenario's work."""
    return Edit(("works", work, *path), value, why)
