"""What a cloud has to say about changes of its clusters."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from components.contract.groups import NodeGroup
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cluster_component import ClusterComponent


class Cloud(ABC):
    """One stack in one cloud."""

    place: ClassVar[str]
    """Where everything is, such as ``AWS``."""
    service: ClassVar[str]
    """Who runs its clusters, such as ``EKS``."""
    page: ClassVar[str]
    """Where its first steps and its traps are told."""
    new_session: ClassVar[str]
    """How to get credentials that last."""
    ways_in: ClassVar[str]
    """What may lead to an API that does not answer."""
    no_way_back: ClassVar[str]
    """What to know about a version that is lower than the live one."""

    @property
    @abstractmethod
    def version(self) -> str:
        """Minor version of Kubernetes that the stack file asks for."""

    @property
    @abstractmethod
    def groups(self) -> Mapping[str, NodeGroup]:
        """The groups that the program asks for, by its names for them."""

    def refusals(self, parts: Sequence[ClusterComponent]) -> Iterator[Blocker]:
        """Return what only this cloud refuses."""
        del parts
        yield from ()

    def notes(self, parts: Sequence[ClusterComponent]) -> Iterator[str]:
        """Return what only this cloud has to say, and no reason to stop."""
        del parts
        yield from ()

    @abstractmethod
    def ahead(self, parts: Sequence[ClusterComponent], *, is_upgrade: bool) -> tuple[tuple[ClusterComponent, ...], ...]:
        """Return what a change takes first, with a run of the engine for each.

        Parameters
        ----------
        parts
            What is there and was not lost.
        is_upgrade
            Whether some version rises.
        """
