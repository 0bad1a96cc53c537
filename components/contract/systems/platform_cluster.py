"""The parts of a stack file from which settings of systems are derived."""

from dataclasses import dataclass, field

from components.contract.environments import Environment, PlatformProfile
from components.contract.groups import NodeGroup
from components.contract.ingress import WaysIn
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.mlrun import default_node_selector
from components.contract.mlrun_choices import MlrunChoices
from components.contract.placement import has_untainted_spot
from components.contract.pod_resources import PodResources
from components.contract.pools import PoolRole
from components.contract.taints import ARM_TAINT, Taint


@dataclass(frozen=True, kw_only=True)
class PlatformCluster:
    """The cluster of a stack file, with all that settings of systems depend on."""

    groups: tuple[NodeGroup, ...]
    spot_taint: Taint | None
    pod_resources: PodResources
    places_by_itself: bool
    """Whether admission places core services and corrects jobs' placement, as from Kubernetes 1.36 on."""
    environment: Environment = Environment.DEV
    profile: PlatformProfile = PlatformProfile.MLRUN_CE
    mlrun: MlrunChoices = field(default_factory=MlrunChoices)
    job_accounts: tuple[str, ...] = ()
    """Service accounts of the namespace that have a cloud identity, that of functions first. Default: none."""
    platform_registries: tuple[str, ...] = ()
    """Registries of images that the platform builds, which may have any tag."""
    ways_in: WaysIn | None = None
    """How clients outside reach services; None if the stack file does not define it."""

    @property
    def job_selector(self) -> dict[str, str]:
        """Node selector of functions and jobs that set none."""
        return default_node_selector(self.groups, corrects=self.places_by_itself)

    @property
    def job_account(self) -> str:
        """Service account of functions and jobs that set none; empty for Kubernetes' default."""
        return next(iter(self.job_accounts), "")

    @property
    def notebook_selector(self) -> dict[str, str]:
        """Node selector of notebooks: on-demand nodes of the pools of role jupyter, else of those for jobs.

        If spot nodes have a taint, it keeps notebooks off, and the selector needs no lifecycle. Pools of ARM nodes with
        their taint do not count: most images of notebooks are for amd64 only.
        """
        return self._on_demand(PoolRole.JUPYTER if self._has_place(PoolRole.JUPYTER) else PoolRole.WORKLOAD)

    @property
    def service_selector(self) -> dict[str, str]:
        """Node selector of services that are not core services: on-demand nodes of the pools for jobs."""
        return self._on_demand(PoolRole.WORKLOAD)

    @property
    def gpu_selector(self) -> dict[str, str]:
        """Node selector of services that request a GPU: on-demand nodes of the pools of role gpu."""
        return self._on_demand(PoolRole.GPU)

    @property
    def service_gpus(self) -> tuple[str, ...]:
        """Names under which services may request GPUs: those of on-demand nodes, sorted."""
        on_demand = (group for group in self.groups if group.lifecycle is Lifecycle.ON_DEMAND)
        return tuple(sorted({group.gpu_resource for group in on_demand if group.gpu_resource}))

    @property
    def gap(self) -> str:
        """Why some services have no nodes to run on; empty if all have some."""
        if self._has_place(PoolRole.WORKLOAD):
            return ""
        return (
            "no pool of role workload is on-demand, so services that are not core services have no node, nor do "
            "notebooks without an on-demand pool of role jupyter; add one"
        )

    def _has_place(self, role: PoolRole) -> bool:
        return any(
            group.role is role and group.lifecycle is Lifecycle.ON_DEMAND and ARM_TAINT not in group.taints
            for group in self.groups
        )

    def _on_demand(self, role: PoolRole) -> dict[str, str]:
        stays = {LabelKey.LIFECYCLE.value: Lifecycle.ON_DEMAND.label_value} if has_untainted_spot(self.groups) else {}
        return {LabelKey.ROLE.value: role.value, **stays}

    @property
    def roles(self) -> frozenset[PoolRole]:
        """Roles of the cluster's pools."""
        return frozenset(group.role for group in self.groups)

    @property
    def has_spot(self) -> bool:
        """Whether any group has spot nodes."""
        return any(group.lifecycle is Lifecycle.SPOT for group in self.groups)
