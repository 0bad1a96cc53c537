"""Lifecycle of nodes and its spellings."""

from enum import StrEnum


class Lifecycle(StrEnum):
    """Lifecycle of a pool's instances; the stack file's spelling."""

    ON_DEMAND = "on-demand"
    """Kept until released."""

    SPOT = "spot"
    """Cheaper, and the cloud may reclaim them at any time."""

    @property
    def label_value(self) -> str:
        """Value of the lifecycle label that Iguazio and MLRun read (MLRun node affinity)."""
        return "preemptible" if self is Lifecycle.SPOT else "non-preemptible"
