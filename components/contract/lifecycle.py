"""May a node be reclaimed by its cloud, and how each party spells the answer."""

from enum import StrEnum


class Lifecycle(StrEnum):
    """How a pool's instances are bought; the stack file's own spelling."""

    ON_DEMAND = "on-demand"
    """Kept until we give them back."""

    SPOT = "spot"
    """Cheaper, and the cloud may reclaim them at any time."""

    @property
    def label_value(self) -> str:
        """Value of the lifecycle label that Iguazio and MLRun read (MLRun node affinity)."""
        return "preemptible" if self is Lifecycle.SPOT else "non-preemptible"
