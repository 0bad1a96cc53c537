"""Cloud-specific checks and texts for changes of a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from components.contract.groups import NodeGroup
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cluster_component import ClusterComponent


class Cloud(ABC):
    """One stack in one cloud."""

    place: ClassVar[str]
    """Name of the cloud, such as ``AWS``."""
    service: ClassVar[str]
    """Its Kubernetes service, such as ``EKS``."""
    page: ClassVar[str]
    """Documentation page with first steps and pitfalls."""
    new_session: ClassVar[str]
    """How to renew expired credentials."""
    ways_in: ClassVar[str]
    """What to check when the Kubernetes API does not answer."""
    no_way_back: ClassVar[str]
    """Advice for a version below the live one."""

    @property
    @abstractmethod
    def version(self) -> str:
        """Minor version of Kubernetes in the stack file."""

    @property
    @abstractmethod
    def groups(self) -> Mapping[str, NodeGroup]:
        """The node groups that the program declares, by logical name."""

    def blockers(self, components: Sequence[ClusterComponent]) -> Iterator[Blocker]:
        """Return blockers that are specific to this cloud."""
        del components
        yield from ()

    def notes(self, components: Sequence[ClusterComponent]) -> Iterator[str]:
        """Return notes that are specific to this cloud and do not block the change."""
        del components
        yield from ()

    @abstractmethod
    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        """Return components to change first, one run of the engine per tuple.

        Parameters
        ----------
        components
            The existing components that are not lost.
        is_upgrade
            Whether the change raises a version.
        """
