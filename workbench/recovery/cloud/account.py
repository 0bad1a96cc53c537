"""Read-only queries to a cloud about one stack."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cluster_component import ClusterComponent, Condition
from workbench.engine.clouds.way_back import WayBack
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult
from workbench.recovery.cloud.recovery_point import RecoveryPoint
from workbench.recovery.cloud.restore_job import RestoreJob
from workbench.system.errors import UserError


class Account(ABC):
    """The cloud account of a stack, queried with the user's credentials.

    All queries raise ``UserError`` if the cloud does not answer or refuses the request.
    """

    place: ClassVar[str]
    """Name of the cloud, such as ``AWS``."""
    is_a_cloud: ClassVar[bool] = True
    """Whether the stack has resources outside its cluster."""
    namespaces_max: ClassVar[int] = 0
    """Maximum number of namespaces of one restore."""
    restores_by_role: ClassVar[bool] = False
    """Whether the cloud restores with a role of the stack."""
    restores_partial: ClassVar[bool] = False
    """Whether a backup that lacks volumes can be restored."""

    def require_cluster_admin(self) -> None:
        """Refuse credentials without access to the stack's cluster. Default: nothing is refused.

        Raises
        ------
        UserError
            Their principal is not a cluster admin of the stack.
        """
        return

    @abstractmethod
    def conditions(self, components: Sequence[ClusterComponent]) -> Mapping[str, Condition]:
        """Return the condition of each component by its key."""

    def way_back(self) -> WayBack:
        """Return whether the stack's control plane can be rolled back, and to which version; default: it cannot."""
        return WayBack()

    @abstractmethod
    def knows(self, type_: str) -> bool:
        """Return whether resources of this type can be searched for."""

    @abstractmethod
    def search(self, query: LookupQuery) -> list[LookupResult]:
        """Return the resources that match a query of a known type; there may be several."""

    @abstractmethod
    def is_ours(self, tags: Mapping[str, str]) -> bool:
        """Return whether ``tags`` are those of this stack's resources."""

    @abstractmethod
    def tagged_resources(self) -> list[CloudResource]:
        """Return all resources that belong to the stack, in its state or not; sorted by type."""

    def recovery_points(self) -> list[RecoveryPoint]:
        """Return the backups of the stack's cluster, newest first; default: the cloud makes none."""
        return []

    def restore_jobs(self) -> list[RestoreJob]:
        """Return the restores that the cloud records, newest first; default: it records none."""
        return []

    def backup_problem(self) -> str:
        """Return why the cloud makes no backups although the stack requests them, and what to do; default: empty."""
        return ""

    def restore_command(self, point: RecoveryPoint, role: str, *, namespaces: Sequence[str], zone: str) -> str:
        """Return the command of the cloud's CLI that restores a backup; default: none can be restored.

        Parameters
        ----------
        point, role
            The backup, and the role with which the cloud restores; empty unless ``restores_by_role``.
        namespaces
            Namespaces to restore; empty: all.
        zone
            Letter of the zone for a restored volume; empty: the zone of the original volume.

        Raises
        ------
        UserError
            The zone of the original volume is not known.
        """
        del role, namespaces, zone
        raise UserError(f"{point.id} cannot be restored: {self.place} makes no backups of this kind of cluster.")

    def foreign_resources(self, recorded: Collection[str]) -> list[Blocker]:
        """Return resources of other owners that the cloud would delete with the stack's; default: none.

        Parameters
        ----------
        recorded
            Ids of the resources in the stack's state.
        """
        del recorded
        return []
