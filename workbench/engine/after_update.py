"""Whether a cluster is in order after a change: the engine's own success does not say so.

A provider reads a node group that failed without a word, and the state of an add-on has no status at all.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from workbench.engine.eks import MOVING, NEVER_MADE, Condition, Conditions, condition
from workbench.engine.parts import CLUSTER, Part

SETTLING: Final = MOVING | {"DEGRADED"}
"""Words that may pass by themselves: an add-on is degraded until a node takes its pods."""

PATIENCE: Final = 1800.0
"""Seconds within which EKS ends what it is at. The longest it gives itself is the update of a node."""

PATIENCE_DEGRADED: Final = 120.0
"""Seconds within which what is degraded comes back, if it does so by itself."""

PAUSE: Final = 5.0


@dataclass(frozen=True)
class Trouble:
    """A part that is not as a finished change leaves it."""

    part: Part
    condition: Condition

    @override
    def __str__(self) -> str:
        """Return resource, cause and next step, in two lines."""
        why = "; ".join(self.condition.issues) or "EKS names no cause"
        return f"- {self.part} is {self.condition.status}: {why}.\n  {self._step}"

    @property
    def _step(self) -> str:
        if self.condition.status in MOVING:
            return "EKS still works on it. Wait for it, then run `up` again."
        if self.condition.status not in NEVER_MADE:
            return "Mend what is named; EKS then takes it for active again, and `up` says so."
        if self.part.type == CLUSTER or self.part.holds_data:
            return "Nothing makes it anew by itself: `up` tells the steps."
        return "Mend the cause if it is yours (quota, subnets, instance types); the next `up` makes it anew."


def troubles(parts: Sequence[Part], conditions: Conditions) -> list[Trouble]:
    """Return every part that is not active."""
    found = ((part, condition(part, conditions)) for part in parts)
    return [Trouble(part, told) for part, told in found if not told.is_in_order]


def settled(
    ask: Callable[[], Conditions],
    parts: Sequence[Part],
    waiting_for: Callable[[str], None],
    *,
    words: frozenset[str] = MOVING,
    patience: float = PATIENCE,
) -> Conditions:
    """Return the conditions once none is in motion, or as they are when patience ends.

    Parameters
    ----------
    ask
        Asks EKS.
    parts
        What is waited for.
    waiting_for
        Gets a line for the user whenever there is something to wait for.
    words
        Statuses that are motion.
    patience
        Seconds.
    """
    deadline = time.monotonic() + patience
    while True:
        found = ask()
        moving = [part for part in parts if condition(part, found).status in words]
        if not moving or time.monotonic() > deadline:
            return found
        waiting_for(", ".join(f"{part} ({condition(part, found).status})" for part in moving))
        time.sleep(PAUSE)
