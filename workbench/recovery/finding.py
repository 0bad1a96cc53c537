"""One finding after an interrupted run."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A problem and its remedy."""

    found: str
    """The problem, as a sentence."""
    remedy: str
    """What ``repair`` does, or what the user should do if ``repair`` is None."""
    repair: Callable[[], None] | None = None
    """Repairs it; None if the user must do it."""
