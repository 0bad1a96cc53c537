"""Cloud-specific checks and texts for changes of a cluster."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from typing_extensions import override

from components.contract.groups import NodeGroup
from components.contract.hours import OfficeHours
from infra.config import StackConfig
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cluster_component import ClusterComponent, Group, NodeUpgrade, Rank, minor
from workbench.engine.clouds.fixed_choice import FixedChoice, fixed_blockers
from workbench.engine.clouds.way_back import WayBack, is_newer

NO_WAY_YET: Final = (
    "The stack creates its network, and the API is private: no other network is connected yet, so this `up` stops at "
    "the first Kubernetes object. Connect your network then, and run `up` again ({page})."
)
"""Note about the first `up` of a private cluster in a network that it creates."""


@dataclass(frozen=True, kw_only=True)
class ErrorCodes:
    """Regular expressions for errors that need a next step; ``error_classification`` adds those that clouds share."""

    expired: str = ""
    """The credentials have expired; in any case of letters."""
    in_use: str = ""
    """A resource to delete is still in use."""
    propagating: str = ""
    """A new role assignment has not reached the whole cloud yet."""
    busy: str = ""
    """Another operation is in progress; ``.`` also matches line breaks."""
    name_taken: str = ""
    """The name of a resource to create is already in use."""
    zone_refused: str = ""
    """The service creates no control planes in one of the zones."""


class Cloud:
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
    api_sleeps: ClassVar[bool] = False
    """Whether the Kubernetes API does not answer while a cluster sleeps outside its office hours."""

    @property
    def api_clients(self) -> str:
        """From where the Kubernetes API answers, in a sentence; empty if only the cluster's owner knows."""
        return ""

    def creation_notes(self) -> Iterator[str]:
        """Return notes to show before the first `up`."""
        yield from ()

    @property
    def version(self) -> str:
        """Minor version of Kubernetes in the stack file; empty if it names none."""
        return ""

    @property
    def node_version(self) -> str:
        """Minor version of the nodes in the stack file; empty if it names none."""
        return ""

    @property
    def hours(self) -> OfficeHours | None:
        """Office hours of the whole cluster; None if it has none."""
        return None

    def waking(self, components: Sequence[ClusterComponent]) -> str:
        """Return the commands that wake a cluster which sleeps outside its office hours."""
        del components
        return ""

    @property
    def groups(self) -> Mapping[str, NodeGroup]:
        """The node groups that the program declares, by logical name."""
        return {}

    def blockers(self, components: Sequence[ClusterComponent]) -> Iterator[Blocker]:
        """Return blockers that are specific to this cloud."""
        del components
        yield from ()

    def fixed_blockers(self, deployment: Mapping[str, Any]) -> Iterator[Blocker]:
        """Return the changes of choices that are fixed while the cluster of ``deployment`` exists."""
        del deployment
        yield from ()

    def back_blockers(self, components: Sequence[ClusterComponent], way_back: WayBack) -> Iterator[Blocker]:
        """Return why versions cannot be lowered as the stack file says; default: refuses an older control plane.

        Parameters
        ----------
        components
            The existing components that are not lost.
        way_back
            What the cloud reports about a rollback.
        """
        del way_back
        for cluster in components:
            if cluster.rank is Rank.CLUSTER:
                yield from self.no_downgrade(cluster)

    def no_downgrade(self, cluster: ClusterComponent) -> Iterator[Blocker]:
        """Refuse an older control plane than the live one."""
        if is_newer(cluster, self.version):
            yield Blocker(
                "cluster.version",
                f"{self.version}, but the {cluster} runs {cluster.version}",
                f"{self.service} accepts {cluster.version} or 1.{minor(cluster.version) + 1}",
                f"Set it to {cluster.version}: `up` does not downgrade. {self.no_way_back}",
            )

    def entered(self, deployment: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the deployment with an entry for a resource to delete that the state has only as part of another.

        None if there is no such resource.
        """
        del deployment
        return None

    def plan_blockers(self, upgrades: Sequence[NodeUpgrade], created: Sequence[Group]) -> Iterator[Blocker]:
        """Return why the cloud would not change nodes as planned; default: nothing.

        Parameters
        ----------
        upgrades
            Groups whose nodes are replaced.
        created
            Groups that are created.
        """
        del upgrades, created
        yield from ()

    def notes(self, components: Sequence[ClusterComponent]) -> Iterator[str]:
        """Return notes that are specific to this cloud and do not block the change."""
        del components
        yield from ()

    def earlier_runs(
        self, components: Sequence[ClusterComponent], *, is_upgrade: bool, is_rollback: bool = False
    ) -> tuple[tuple[ClusterComponent, ...], ...]:
        """Return components to change first, one run of the engine per tuple; default: none.

        Parameters
        ----------
        components
            The existing components that are not lost.
        is_upgrade
            Whether the change raises a version.
        is_rollback
            Whether the control plane is rolled back. Default: it is not.
        """
        del components, is_upgrade, is_rollback
        return ()


@dataclass(frozen=True)
class CloudStack(Cloud):
    """A stack whose cluster is created in a cloud.

    Parameters
    ----------
    stack
        Name of the stack, the prefix of the program's logical names.
    config, choices
        The stack file, and its cluster section.
    """

    group_label: ClassVar[str]
    """Label with which the cloud names the group of a node."""
    errors: ClassVar[ErrorCodes]
    fixed: ClassVar[Sequence[FixedChoice]] = ()
    """Choices that the cloud fixes when it creates a cluster."""

    stack: str
    config: StackConfig
    choices: Any

    @property
    @override
    def version(self) -> str:
        return str(self.choices.version)

    @property
    @override
    def node_version(self) -> str:
        return str(getattr(self.choices, "node_version", None) or self.version)

    @property
    @override
    def hours(self) -> OfficeHours | None:
        hours: OfficeHours | None = getattr(self.choices, "office_hours", None)
        return hours

    @property
    @override
    def groups(self) -> Mapping[str, NodeGroup]:
        return {self.group_name(self.stack, group.name): group for group in self.config.groups}

    @staticmethod
    def group_name(stack: str, group: str) -> str:
        """Return the logical name that the program gives the resource of a node group."""
        return f"{stack}-{group}"

    @override
    def fixed_blockers(self, deployment: Mapping[str, Any]) -> Iterator[Blocker]:
        return fixed_blockers(self.service, self.fixed, self.choices, deployment)
