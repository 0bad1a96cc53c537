"""What is asked of a cloud about one stack in it. Nothing is ever changed from here."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from workbench.engine.clouds.cluster_component import ClusterComponent, Condition
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult


class Account(ABC):
    """Where a stack is, with the user's own credentials.

    All that asks raises ``UserError`` if the cloud does not answer, or refuses to.
    """

    place: ClassVar[str]
    """Such as ``AWS``."""
    is_a_cloud: ClassVar[bool] = True
    """Whether the stack makes anything outside its cluster."""

    @abstractmethod
    def conditions(self, components: Sequence[ClusterComponent]) -> Mapping[str, Condition]:
        """Return how each part is now, by its key."""

    @abstractmethod
    def knows(self, type_: str) -> bool:
        """Return whether it is known how resources of a type are found."""

    @abstractmethod
    def search(self, wanted: LookupQuery) -> list[LookupResult]:
        """Return what may be the wanted resource, whose type is known; more than one is possible."""

    @abstractmethod
    def is_ours(self, tags: Mapping[str, str]) -> bool:
        """Return whether what carries ``tags`` was made by this stack."""

    @abstractmethod
    def tagged_resources(self) -> list[CloudResource]:
        """Return all that belongs to the stack, whether its state knows of it or not; sorted by kind."""
