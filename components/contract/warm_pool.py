"""Warm pools of EKS: machines that have booted once and stand by in addition to a pool's nodes."""

from enum import StrEnum
from typing import Annotated, Any, Final, TypeAlias

from pydantic import Field

from components.contract.choices import ContractModel, Explained
from components.contract.lifecycle import Lifecycle
from components.contract.pool_rules import require_growth

WARM_MAX: Final = 50
"""Maximum number of machines that stand by; for more, raise ``size.min``."""


class WarmState(StrEnum):
    """How machines stand by. AWS also hibernates some types, which this package does not offer."""

    STOPPED = "stopped"
    """Only their disks cost money; they boot again when they are needed."""

    RUNNING = "running"
    """They cost as much as nodes."""


class WarmPool(ContractModel):
    """Machines that stand by, all of one state.

    https://docs.aws.amazon.com/eks/latest/userguide/warm-pools-managed-node-groups.html
    """

    nodes: Annotated[int, Explained(decides="The size of the warm pool, regardless of the pool's size.")] = Field(
        ge=1, le=WARM_MAX, strict=True, description="Number of machines that stand by.", examples=[2]
    )
    state: Annotated[WarmState, Explained("Only the disks of stopped machines cost money.")] = Field(
        WarmState.STOPPED, description="How they stand by.", examples=["running"]
    )

    def require_fit(self, pool: dict[str, Any]) -> None:
        """Refuse a warm pool that its pool cannot use.

        Parameters
        ----------
        pool
            The pool's valid choices, by name.

        Raises
        ------
        ValueError
            The pool never grows, or its machines may not stand by.
        """
        require_growth(pool, "nothing stands by")
        size = pool.get("size")
        if pool.get("lifecycle") is Lifecycle.SPOT:
            raise ValueError("is for on-demand pools: AWS may reclaim spot machines before they are used; remove it")
        if pool.get("lifecycle") is Lifecycle.RESERVED:
            raise ValueError("is for on-demand pools: reserved capacity is paid for, running or not; remove it")
        if size and self.nodes > size.max:
            raise ValueError(f"has more machines than the pool may have nodes, {size.max}; lower nodes")


PoolWarmPool: TypeAlias = Annotated[
    WarmPool | None,
    Explained("Machines that stand by cost money.", "The warm pool of the pool's node groups (docs/headroom.md)."),
]
