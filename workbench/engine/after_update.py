"""Whether a cluster is in order after a change: the engine's own success does not say so.

A provider reads a group of nodes that failed without a word, and the state of an add-on has no status at all.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from workbench.engine.clouds.cluster_component import ClusterComponent, Condition, Conditions, condition

PATIENCE: Final = 1800.0
"""Seconds within which a cloud ends what it is at. The longest that EKS gives itself is the update of a node."""

PATIENCE_DEGRADED: Final = 120.0
"""Seconds within which what is degraded comes back, if it does so by itself."""

PAUSE: Final = 5.0


@dataclass(frozen=True)
class Trouble:
    """A part that is not as a finished change leaves it."""

    part: ClusterComponent
    condition: Condition

    @override
    def __str__(self) -> str:
        """Return resource, cause and next step, in two lines."""
        why = "; ".join(self.condition.issues) or f"{self.part.service} names no cause"
        return f"- {self.part} is {self.condition.status}: {why}.\n  {self._step}"

    @property
    def _step(self) -> str:
        if self.condition.is_moving:
            return f"{self.part.service} still works on it. Wait for it, then run `up` again."
        if not self.condition.is_lost:
            return self.part.step
        if not self.part.may_be_made_anew:
            return "Nothing makes it anew by itself: `up` tells the steps."
        return "Mend the cause if it is yours (quota, subnets, machine types); the next `up` makes it anew."


def troubles(parts: Sequence[ClusterComponent], conditions: Conditions) -> list[Trouble]:
    """Return every part that is not in order."""
    found = ((part, condition(part, conditions)) for part in parts)
    return [Trouble(part, told) for part, told in found if not told.is_in_order]


def settled(
    ask: Callable[[], Conditions],
    parts: Sequence[ClusterComponent],
    waiting_for: Callable[[str], None],
    *,
    may_change: Callable[[Condition], bool] = lambda found: found.is_moving,
    patience: float = PATIENCE,
) -> Conditions:
    """Return the conditions once none may change by itself, or as they are when patience ends.

    Parameters
    ----------
    ask
        Asks the cloud.
    parts
        What is waited for.
    waiting_for
        Gets a line for the user whenever there is something to wait for.
    may_change
        Whether to wait for one. Default: as long as the cloud works on it.
    patience
        Seconds.
    """
    deadline = time.monotonic() + patience
    while True:
        found = ask()
        moving = [part for part in parts if may_change(condition(part, found))]
        if not moving or time.monotonic() > deadline:
            return found
        waiting_for(", ".join(f"{part} ({condition(part, found).status})" for part in moving))
        time.sleep(PAUSE)
