"""One thing that a killed run left."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """What was found, and what is done about it."""

    found: str
    """What is wrong, a sentence."""
    remedy: str
    """What ``mend`` does; without it, what the user does."""
    mend: Callable[[], None] | None = None
    """Mends it; None if it cannot be repaired from here."""
