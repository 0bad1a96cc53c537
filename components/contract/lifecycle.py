"""Lifecycle of nodes and its spellings."""

from enum import StrEnum
from typing import Final


class Lifecycle(StrEnum):
    """Lifecycle of a pool's instances; the stack file's spelling."""

    ON_DEMAND = "on-demand"
    """Kept until released."""

    SPOT = "spot"
    """Cheaper, and the cloud may reclaim them at any time."""

    RESERVED = "reserved"
    """Machines of capacity that the account has reserved. Kept until released, or until the reservation ends."""

    @property
    def label_value(self) -> str:
        """Value of the lifecycle label that Iguazio and MLRun read (MLRun node affinity)."""
        return "preemptible" if self is Lifecycle.SPOT else "non-preemptible"


LABEL_VALUES: Final = tuple(dict.fromkeys(each.label_value for each in Lifecycle))
"""Values of that label."""
