"""Parts of a cluster that a scenario refers to: nodes of a pool, role, lifecycle or zone."""

from typing import Any, Protocol

from pydantic import Field

from components.contract.choices import ContractModel
from components.contract.lifecycle import Lifecycle
from components.contract.pools import PoolRole


class Place(ContractModel):
    """Nodes that have all the properties named here; without any, all nodes."""

    pool: str | None = Field(None, description="Name of the pool in the stack file.", examples=["gpu"])
    role: PoolRole | None = Field(None, description="Role of the pool.", examples=["gpu"])
    lifecycle: Lifecycle | None = Field(None, description="Capacity type of the nodes.", examples=["spot"])
    zone: str | None = Field(None, description="Zone, as the cloud names it in node labels.", examples=["eu-west-1a"])

    def holds(self, *, pool: str, role: str, lifecycle: str, zone: str | None) -> bool:
        """Return whether a node with these properties is one of the place."""
        facts: dict[str, Any] = {"pool": pool, "role": role, "lifecycle": lifecycle, "zone": zone}
        return all(facts[key] == str(value) for key, value in self.model_dump(exclude_none=True).items())

    @property
    def text(self) -> str:
        """The place in words, such as ``pool gpu`` or ``role workload, spot``; ``any node`` without a property."""
        words = {"pool": "pool ", "role": "role ", "lifecycle": "", "zone": "zone "}
        chosen = self.model_dump(exclude_none=True)
        return ", ".join(f"{words[key]}{value}" for key, value in chosen.items()) or "any node"


class Located(Protocol):
    """A node or a node group."""

    @property
    def pool(self) -> str:
        """Name of its pool."""

    @property
    def role(self) -> str:
        """Role of the pool."""

    @property
    def lifecycle(self) -> str:
        """``on-demand`` or ``spot``."""

    @property
    def zone(self) -> str | None:
        """Its zone; None if it may be any."""


def is_in(node: Located | None, place: Place) -> bool:
    """Return whether a node or group is part of a place; an unknown node never is."""
    return node is not None and place.holds(pool=node.pool, role=node.role, lifecycle=node.lifecycle, zone=node.zone)
