"""The parts of a cluster that have a life of their own, whichever cloud they are in."""

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
    """What a part is, in the order of an upgrade."""

    CLUSTER = 0
    ADDON = 1
    GROUP = 2


@dataclass(frozen=True)
class Condition(ABC):
    """How a part is now.

    Parameters
    ----------
    status
        The cloud's word; empty if it is not there, or nobody knows.
    issues
        Why, in the cloud's words, each with its code.
    """

    active: ClassVar[str]
    """The word for what is in order."""

    status: str
    issues: tuple[str, ...] = ()

    @property
    def is_in_order(self) -> bool:
        """Whether nothing is to be said about it."""
        return self.status in (self.active, "")

    @property
    @abstractmethod
    def is_moving(self) -> bool:
        """Whether the cloud works on it, and refuses changes until it is done."""

    @property
    @abstractmethod
    def is_lost(self) -> bool:
        """Whether neither time nor a change brings it back."""

    @property
    @abstractmethod
    def may_pass(self) -> bool:
        """Whether time alone may bring it in order."""


Conditions = Mapping[str, Condition]
"""By a part's ``key``."""


@dataclass(frozen=True)
class Sizes:
    """Numbers of nodes of a group that is there."""

    low: int
    size: int
    high: int

    @property
    def is_elastic(self) -> bool:
        """Whether the autoscaler may move the size."""
        return self.low < self.high


@dataclass(frozen=True)
class ClusterComponent(ABC):
    """A cluster, an add-on or a group of nodes.

    Parameters
    ----------
    urn, type
        Who it is in the state.
    inputs, outputs
        As they were read last: after a refresh, as they are live.
    """

    service: ClassVar[str]
    """Who runs it, such as ``EKS``."""
    rank: ClassVar[Rank]
    noun: ClassVar[str]
    """How messages call it."""

    urn: str
    type: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return self.urn

    @property
    def logical_name(self) -> str:
        """The program's name for the resource that it is, or is declared in."""
        return self.urn.rpartition("::")[2]

    @property
    def program_name(self) -> str:
        """The program's name for it itself."""
        return self.logical_name

    @property
    def is_resource(self) -> bool:
        """Whether it has a place of its own in the state; if not, another resource declares it."""
        return self.key == self.urn

    @property
    @abstractmethod
    def cluster(self) -> str:
        """The cloud's name of the cluster that it is, or is of."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The cloud's name of it."""

    @property
    @abstractmethod
    def condition(self) -> Condition:
        """How it was when the state was read, without a status where the provider keeps none."""

    @property
    @abstractmethod
    def version(self) -> str:
        """Minor version of Kubernetes, such as ``1.35``; empty if it is not known, or it has one of its own."""

    @property
    @abstractmethod
    def look(self) -> str:
        """Command that shows it."""

    @property
    @abstractmethod
    def step(self) -> str:
        """What to do if a change leaves it neither in order nor in motion, and not lost."""

    @property
    def locks(self) -> Sequence[Blocker]:
        """What the cloud itself sets against its deletion."""
        return ()

    @property
    def may_be_made_anew(self) -> bool:
        """Whether nothing is lost with it."""
        return self.rank is not Rank.CLUSTER

    @override
    def __str__(self) -> str:
        """Return noun and the cloud's name."""
        return f"{self.noun} {self.name}"

    def _known(self, *keys: str) -> Any:
        return next((value for key in keys if (value := self.outputs.get(key) or self.inputs.get(key))), None)


class Group(ClusterComponent):
    """Nodes of one kind."""

    rank = Rank.GROUP
    with_its_cluster: ClassVar[str]
    """What becomes of it, or of the cluster, when the cluster is deleted."""
    may_skip_minors: ClassVar[bool] = True
    """Whether its nodes may go further than one minor version at once."""

    @property
    @abstractmethod
    def labels(self) -> Mapping[str, str]:
        """Labels that its nodes get."""

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
        """Return the commands that bring its nodes to a minor version."""

    @abstractmethod
    def resize(self, low: int, high: int, size: int) -> str:
        """Return the commands that give it a size that the autoscaler did not choose, and bounds around it."""

    @property
    def holds_data(self) -> bool:
        """Whether it is of a data pool: nobody may make it anew but on purpose."""
        return self.labels.get(LabelKey.ROLE.value) == PoolRole.DATA.value

    @property
    @override
    def may_be_made_anew(self) -> bool:
        return not self.holds_data


def minor(version: str) -> int:
    """Return the minor of a version such as ``1.35``. What is not known is taken for 0."""
    return int(version.split(".")[1]) if version.count(".") else 0


def condition(part: ClusterComponent, conditions: Conditions) -> Condition:
    """Return how ``part`` is: as the cloud said, else as the state has it."""
    return conditions.get(part.key) or part.condition
