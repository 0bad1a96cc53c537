"""Checks that a cluster is healthy after a change; success of the engine alone does not mean that.

A provider reads a failed node group without an error, and the state of an add-on has no status at all.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from workbench.engine.clouds.cluster_component import ClusterComponent, Condition, Conditions, condition

PATIENCE: Final = 1800.0
"""Seconds to wait for a cloud's running operations. The longest in EKS is the update of a node."""

PATIENCE_DEGRADED: Final = 120.0
"""Seconds to wait for a degraded component to recover by itself."""

PAUSE: Final = 5.0


@dataclass(frozen=True)
class ComponentProblem:
    """A component that is not healthy after a change."""

    component: ClusterComponent
    condition: Condition

    @override
    def __str__(self) -> str:
        """Return resource, cause and next step, in two lines."""
        why = "; ".join(self.condition.issues) or f"{self.component.service} reports no cause"
        return f"- {self.component} is {self.condition.status}: {why}.\n  {self._step}"

    @property
    def _step(self) -> str:
        if self.condition.is_moving:
            return f"{self.component.service} is still working on it. Wait until it is done, then run `up` again."
        if not self.condition.is_lost:
            return self.component.step
        if not self.component.is_recreatable:
            return "It is not recreated automatically: run `up` to see the steps."
        return "Fix the cause if it is on your side (quota, subnets, machine types); the next `up` recreates it."


def component_problems(components: Sequence[ClusterComponent], conditions: Conditions) -> list[ComponentProblem]:
    """Return every unhealthy component."""
    current = ((component, condition(component, conditions)) for component in components)
    return [ComponentProblem(component, status) for component, status in current if not status.is_in_order]


def settled(
    ask: Callable[[], Conditions],
    components: Sequence[ClusterComponent],
    waiting_for: Callable[[str], None],
    *,
    may_change: Callable[[Condition], bool] = lambda condition: condition.is_moving,
    patience: float = PATIENCE,
) -> Conditions:
    """Wait until no condition may still change by itself, and return them; after ``patience`` return them as they are.

    Parameters
    ----------
    ask
        Queries the cloud.
    components
        The components to wait for.
    waiting_for
        Receives a line for the user while waiting.
    may_change
        Whether to wait for a component in this condition. Default: while the cloud is working on it.
    patience
        Longest wait in seconds.
    """
    deadline = time.monotonic() + patience
    while True:
        current = ask()
        moving = [component for component in components if may_change(condition(component, current))]
        if not moving or time.monotonic() > deadline:
            return current
        waiting_for(", ".join(f"{component} ({condition(component, current).status})" for component in moving))
        time.sleep(PAUSE)
