"""How an upgrade replaces the nodes of a pool: how many at once, in which order, and how long it waits for pods."""

import re
from enum import StrEnum
from typing import Annotated, Final, TypeAlias

from pydantic import BeforeValidator, Field

from components.contract.choices import ContractModel, Explained
from components.contract.pool_size import NODES_MAX

ELASTIC_DEFAULT: Final = "33%"
STATIC_DEFAULT: Final = "1"
"""Nodes of an elastic and of a static group that are replaced at once if the stack file sets no number."""

DRAIN_MINUTES_DEFAULT: Final = 30
SOAK_MINUTES_DEFAULT: Final = 0
"""AKS's own defaults: https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling."""

DRAIN_MINUTES: Final = range(5, 1441)
SOAK_MINUTES_MAX: Final = 30
"""Limits of AKS: https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling."""

NODE_MINUTES: Final = 15
"""Minutes that the replacement of a node takes besides its drain: assumed, for the timeout of ``up`` only."""

_NODES: Final = rf"[1-9]\d{{0,2}}|{NODES_MAX}|([1-9]\d?|100)%"


class UpgradeOrder(StrEnum):
    """What comes first while a node is replaced."""

    NEW_FIRST = "new-first"
    """A new node starts, then an old one is drained: the group keeps its capacity and needs more machines meanwhile."""
    OLD_FIRST = "old-first"
    """An old node is drained before its successor starts: the group needs no more machines, but has less capacity."""


def _count_or_share(given: object) -> str:
    text = str(given) if type(given) in (int, str) else ""
    if not re.fullmatch(_NODES, text, re.ASCII):
        raise ValueError(f"must be 1 to {NODES_MAX} nodes, or a share of the group such as '33%'")
    return text


NodesAtOnce = Annotated[
    str,
    BeforeValidator(_count_or_share),
    Field(
        json_schema_extra={
            "type": ["integer", "string"],
            "x-kind": "number of nodes, or share such as '33%'",
            "minimum": 1,
            "maximum": NODES_MAX,
            "pattern": f"^({_NODES})$",
        }
    ),
]
"""A number of nodes as text, or a share of a group."""


class PoolUpgrade(ContractModel):
    """Limits of upgrades of a pool's nodes; they apply to each of its node groups."""

    nodes: Annotated[
        NodesAtOnce | None,
        Explained(
            f"{ELASTIC_DEFAULT} of an elastic group and {STATIC_DEFAULT} node of a static one: fast if nodes come and "
            "go anyway, careful if they stay.",
            "How many nodes are drained at once; with order new-first also how many are added meanwhile.",
        ),
    ] = Field(None, description="Nodes of a group that are replaced at once.", examples=[1])
    order: Annotated[
        UpgradeOrder | None,
        Explained(
            "new-first, so that no pod waits for capacity; on EKS old-first for reserved pools and those close "
            "together, because there may be no capacity for a further machine.",
            "Whether an upgrade needs further machines and addresses.",
        ),
    ] = Field(
        None,
        description="What comes first. old-first suits machines that are scarce, such as large GPUs.",
        examples=["old-first"],
    )
    drain_minutes: Annotated[
        int | None, Explained(f"{DRAIN_MINUTES_DEFAULT}, the default of AKS.", "How long a job may take to end.")
    ] = Field(
        None,
        ge=DRAIN_MINUTES[0],
        le=DRAIN_MINUTES[-1],
        strict=True,
        description="Minutes that a node's pods have to leave it; AKS only.",
        examples=[240],
    )
    soak_minutes: Annotated[int | None, Explained(f"{SOAK_MINUTES_DEFAULT}, the default of AKS.")] = Field(
        None,
        ge=0,
        le=SOAK_MINUTES_MAX,
        strict=True,
        description="Minutes between a drained node and the next one; AKS only.",
        examples=[5],
    )

    @property
    def aks_only(self) -> tuple[str, ...]:
        """The keys that are set and exist only on AKS."""
        given = {"drainMinutes": self.drain_minutes, "soakMinutes": self.soak_minutes}
        return tuple(key for key, value in given.items() if value is not None)


ChosenUpgrade: TypeAlias = Annotated[
    PoolUpgrade | None, Explained("The defaults of its keys; settings that a cluster already has are kept.")
]


def at_once(upgrade: PoolUpgrade | None, nodes_max: int, *, is_elastic: bool) -> str:
    """Return how many nodes of a group are replaced at once: a number, at most all of them, or a share such as 33%."""
    default = ELASTIC_DEFAULT if is_elastic else STATIC_DEFAULT
    given = (upgrade.nodes if upgrade else None) or default
    return given if given.endswith("%") else str(min(int(given), nodes_max))


def share_of(nodes: str, nodes_max: int) -> int:
    """Return a number of nodes; a share is rounded up, as in the clouds."""
    return -(-int(nodes[:-1]) * nodes_max // 100) if nodes.endswith("%") else int(nodes)


def minutes_at_most(nodes: str, nodes_max: int, minutes: int) -> int:
    """Return how long an upgrade of a full group may take.

    Parameters
    ----------
    nodes
        How many nodes are replaced at once, as ``at_once`` returns it.
    minutes
        How long the pods of a node may take to end, plus the pause before the next node.
    """
    rounds = -(-nodes_max // max(share_of(nodes, nodes_max), 1))
    return rounds * (NODE_MINUTES + minutes)
