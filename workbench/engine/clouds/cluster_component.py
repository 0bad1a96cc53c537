"""Cluster components with their own lifecycle (control plane, add-ons, node groups), independent of the cloud."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar

from typing_extensions import override

from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from workbench.engine.clouds.blocker import Blocker


class Rank(IntEnum):
    """Kind of a component, in upgrade order."""

    CLUSTER = 0
    ADDON = 1
    GROUP = 2


@dataclass(frozen=True)
class Condition(ABC):
    """Current condition of a component.

    Parameters
    ----------
    status
        The cloud's status; empty if the component does not exist or its status is unknown.
    issues
        Causes as the cloud reports them, each with its code.
    sleeps
        Whether it is stopped, or a group without nodes.
    """

    active: ClassVar[str]
    """The cloud's status of a healthy component."""

    status: str
    issues: tuple[str, ...] = ()
    sleeps: bool = False

    @property
    def is_in_order(self) -> bool:
        """Whether it is healthy, or its status is unknown."""
        return self.status in (self.active, "")

    @property
    @abstractmethod
    def is_moving(self) -> bool:
        """Whether the cloud is working on it and refuses other changes."""

    @property
    @abstractmethod
    def is_lost(self) -> bool:
        """Whether it has failed for good: neither waiting nor an update repairs it."""

    @property
    @abstractmethod
    def may_pass(self) -> bool:
        """Whether it may become healthy by itself."""


Conditions = Mapping[str, Condition]
"""Conditions by a component's ``key``."""


@dataclass(frozen=True)
class Sizes:
    """Live minimum, current size and maximum of a node group."""

    low: int
    size: int
    high: int

    @property
    def is_elastic(self) -> bool:
        """Whether the autoscaler may change the size."""
        return self.low < self.high


@dataclass(frozen=True)
class ClusterComponent(ABC):
    """A cluster, an add-on or a group of nodes.

    Parameters
    ----------
    urn, type
        Its identity in the state.
    inputs, outputs
        As last read: live values after a refresh.
    """

    service: ClassVar[str]
    """The cloud's Kubernetes service, such as ``EKS``."""
    rank: ClassVar[Rank]
    noun: ClassVar[str]
    """Its name in messages."""
    replaces_all_nodes: ClassVar[Sequence[tuple[str, ...]]] = ()
    """Paths of inputs whose change replaces the nodes of all groups, one after the other."""

    urn: str
    type: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Unique key."""
        return self.urn

    @property
    def logical_name(self) -> str:
        """Logical name of the resource that it is or is declared in."""
        return self.urn.rpartition("::")[2]

    @property
    def program_name(self) -> str:
        """The program's own name for it."""
        return self.logical_name

    @property
    def is_resource(self) -> bool:
        """Whether it is a resource in the state; otherwise it is declared inside another resource."""
        return self.key == self.urn

    @property
    @abstractmethod
    def cluster(self) -> str:
        """Physical name of its cluster."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Physical name."""

    @property
    @abstractmethod
    def condition(self) -> Condition:
        """Condition when the state was read; without a status if the provider does not store one."""

    @property
    @abstractmethod
    def version(self) -> str:
        """Minor version of Kubernetes, such as ``1.35``; empty if unknown or not applicable."""

    @property
    @abstractmethod
    def look(self) -> str:
        """Command that shows it."""

    @property
    @abstractmethod
    def step(self) -> str:
        """What to do if it is unhealthy after a change, but neither in progress nor lost."""

    @property
    def locks(self) -> Sequence[Blocker]:
        """Deletion protection that is set in the cloud."""
        return ()

    @property
    def is_recreatable(self) -> bool:
        """Whether it can be recreated without losing data."""
        return self.rank is not Rank.CLUSTER

    @override
    def __str__(self) -> str:
        """Return its kind and its name in the cloud."""
        return f"{self.noun} {self.name}"

    def _known(self, *keys: str) -> Any:
        return next((value for key in keys if (value := self.outputs.get(key) or self.inputs.get(key))), None)


class Group(ClusterComponent):
    """A node group."""

    rank = Rank.GROUP
    on_cluster_deletion: ClassVar[str]
    """What the cloud does with groups when their cluster is deleted."""
    replaced_by: ClassVar[Sequence[str]]
    """Inputs whose change replaces the nodes, one after the other."""
    is_drained_on_deletion: ClassVar[bool] = False
    """Whether the cloud drains a group before deleting it, and fails if a disruption budget allows no eviction."""
    may_skip_minors: ClassVar[bool] = True
    """Whether its nodes can be upgraded by more than one minor version at once."""

    @property
    @abstractmethod
    def labels(self) -> Mapping[str, str]:
        """Labels of its nodes."""

    @property
    @abstractmethod
    def sizes(self) -> Sizes | None:
        """Its sizes; None if they are not known."""

    @property
    @abstractmethod
    def delete(self) -> str:
        """Command that deletes it."""

    @abstractmethod
    def upgrade(self, version: str) -> str:
        """Return the commands that upgrade its nodes to a minor version."""

    @abstractmethod
    def resize(self, low: int, high: int, size: int) -> str:
        """Return the commands that set its bounds and a size that the autoscaler did not choose."""

    @property
    def is_initial(self) -> bool:
        """Whether it belongs to the initial pool, without which no core service runs."""
        return self.labels.get(LabelKey.ROLE.value) == PoolRole.INITIAL.value

    @property
    def holds_data(self) -> bool:
        """Whether it belongs to a data pool, which is never recreated automatically."""
        return self.labels.get(LabelKey.ROLE.value) == PoolRole.DATA.value

    @property
    def keeps_version(self) -> bool:
        """Whether an upgrade of the cluster leaves its nodes on the version that they were created with."""
        return self.holds_data

    @property
    @override
    def is_recreatable(self) -> bool:
        return not self.holds_data


@dataclass(frozen=True)
class NodeUpgrade:
    """A group whose nodes a plan replaces while the group stays."""

    group: Group
    """As before the change."""
    inputs: tuple[str, ...]
    """Changed inputs that cause the replacement of nodes."""


def minor(version: str) -> int:
    """Return the minor of a version such as ``1.35``; 0 if unknown."""
    return int(version.split(".")[1]) if version.count(".") else 0


def condition(component: ClusterComponent, conditions: Conditions) -> Condition:
    """Return the condition of ``component`` as queried from the cloud, else as in the state."""
    return conditions.get(component.key) or component.condition
