"""Components of an AKS cluster in a state, and Azure's own commands for them."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from components.contract.azure import AzureTag
from policies.views.node_groups.aks import AgentPool
from workbench.engine.clouds.aks.conditions import CLUSTER, POOL, AksCondition, condition_of
from workbench.engine.clouds.aks.takeover import ENTERED
from workbench.engine.clouds.cluster_component import ClusterComponent, Group, Rank, Sizes, minor

_OPTIONS: Final = {
    "max_surge": "--max-surge",
    "drain_timeout_in_minutes": "--drain-timeout",
    "node_soak_duration_in_minutes": "--node-soak-duration",
}
"""Options of Azure's command for limits of upgrades; a system pool accepts no other."""


@dataclass(frozen=True)
class AksComponent(ClusterComponent):
    """A component of an AKS cluster."""

    service = "AKS"

    @property
    @override
    def cluster(self) -> str:
        return str(self._known("resourceName") or self.logical_name)

    @property
    def group(self) -> str:
        """Resource group of the cluster."""
        return str(self._known("resourceGroupName") or self.cluster)

    @property
    @override
    def condition(self) -> AksCondition:
        return condition_of(self.outputs)


class AksCluster(AksComponent):
    """A control plane."""

    rank = Rank.CLUSTER
    noun = "cluster"
    # https://learn.microsoft.com/azure/aks/http-proxy, https://learn.microsoft.com/azure/aks/custom-certificate-authority
    replaces_all_nodes = (("httpProxyConfig",), ("securityProfile", "customCATrustCertificates"))

    @property
    @override
    def name(self) -> str:
        return self.cluster

    @property
    @override
    def version(self) -> str:
        return _minor(self._known("currentKubernetesVersion", "kubernetesVersion"))

    @property
    @override
    def look(self) -> str:
        return f"`az aks show {self.is_}`"

    @property
    @override
    def step(self) -> str:
        return (
            f"Fix the reported cause; then `az aks update {self.is_}` without other options makes AKS retry, and `up` "
            "continues."
        )

    @property
    def start(self) -> str:
        """Command that starts it after it was stopped."""
        return f"`az aks start {self.is_}`"

    @property
    def stop_upgrades(self) -> str:
        """Command that ends automatic upgrades."""
        return f"`az aks update {self.is_} --auto-upgrade-channel none`"

    @property
    def is_(self) -> str:
        """Command-line options that identify the cluster."""
        return f"--resource-group {self.group} --name {self.name}"


class AksPool(AksComponent, Group):
    """An agent pool."""

    noun = "agent pool"
    replaced_by = AgentPool.rolling_inputs
    on_cluster_deletion = "AKS deletes all pools of a cluster with it"
    is_drained_on_deletion = True  # https://learn.microsoft.com/azure/aks/delete-node-pool
    may_skip_minors = False  # https://github.com/Azure/AKS/issues/1697

    @property
    @override
    def name(self) -> str:
        return str(self._known("agentPoolName", "name") or self.logical_name)

    @property
    @override
    def version(self) -> str:
        return _minor(self._known("currentOrchestratorVersion", "orchestratorVersion"))

    @property
    @override
    def labels(self) -> Mapping[str, str]:
        return self._known("nodeLabels") or {}

    @property
    def taints(self) -> list[str]:
        """Taints of its nodes, in AKS's notation."""
        return self._known("nodeTaints") or []

    @property
    def upgrade_settings(self) -> Mapping[str, Any]:
        """Limits of its upgrades, in Azure's spelling."""
        return self._known("upgradeSettings") or {}

    @property
    def is_entered(self) -> bool:
        """Whether it is the pool that the cluster was created with, entered to be deleted."""
        return self.is_resource and self.logical_name.endswith(ENTERED)

    @property
    def is_successor(self) -> bool:
        """Whether it is a separate system pool that takes over or took over."""
        return self.is_resource and self.is_initial and not self.is_entered

    @property
    def predecessor(self) -> str:
        """Pool that the cluster was created with, if this one records it; else empty."""
        return self.name if self.is_entered else str((self._known("tags") or {}).get(AzureTag.TOOK_OVER.value) or "")

    @property
    def zones(self) -> set[str]:
        """Zones of its nodes."""
        return set(self._known("availabilityZones") or ())

    @property
    @override
    def sizes(self) -> Sizes | None:
        size = self._number("count")
        if size is None:
            return None
        # Without the autoscaler AKS ignores the bounds.
        is_elastic = bool(self._value("enableAutoScaling"))
        low, high = (self._number(key) if is_elastic else size for key in ("minCount", "maxCount"))
        return None if low is None or high is None else Sizes(low, size, high)

    @property
    @override
    def look(self) -> str:
        return f"`az aks nodepool show {self.is_}`"

    @property
    @override
    def delete(self) -> str:
        return f"`az aks nodepool delete {self.is_}`"

    @property
    @override
    def step(self) -> str:
        retry = f"`az aks nodepool update {self.is_}` without other options makes AKS retry"
        if self.holds_data:
            return f"Fix the cause if it is on your side (quota, addresses, machine types); then {retry}."
        return (
            f"Fix the cause if it is on your side (quota, addresses, machine types); then {retry}. If no pods run "
            f"there: {self.delete}, and `up` recreates the pool."
        )

    @override
    def upgrade(self, version: str) -> str:
        target = minor(version)
        steps = range(minor(self.version) + 1, target + 1) if self.version else (target,)
        return ", ".join(f"`az aks nodepool upgrade {self.is_} --kubernetes-version 1.{step}`" for step in steps)

    @property
    def ways_back(self) -> str:
        """Command that shows to what its nodes can be rolled back."""
        return f"`az aks nodepool get-rollback-versions {self.is_}`"

    @property
    def roll_back(self) -> str:
        """Command that brings its nodes back to version and image before their last upgrade."""
        return f"`az aks nodepool rollback {self.is_}`"

    @override
    def resize(self, low: int, high: int, size: int) -> str:
        bounds = f"--min-count {low} --max-count {high}"
        return (
            f"`az aks nodepool update {self.is_} --disable-cluster-autoscaler`, `az aks nodepool scale {self.is_} "
            f"--node-count {size}`, `az aks nodepool update {self.is_} --enable-cluster-autoscaler {bounds}`"
        )

    @property
    def is_(self) -> str:
        """Command-line options that identify the pool."""
        return f"--resource-group {self.group} --cluster-name {self.cluster} --name {self.name}"

    def _number(self, key: str) -> int | None:
        value = self._value(key)
        return None if value is None else int(value)

    def _value(self, key: str) -> Any:
        return self.outputs.get(key, self.inputs.get(key))  # 0 and False are values


class SystemPool(AksPool):
    """The pool that the cluster was created with; declared inside the cluster, not as a separate resource."""

    @property
    @override
    def key(self) -> str:
        return f"{self.urn}/{self.name}"

    @property
    @override
    def program_name(self) -> str:
        return f"{self.logical_name}/{self.name}"

    @property
    def tags(self) -> Mapping[str, str]:
        """Its tags in Azure, used for cost allocation."""
        return self._known("tags") or {}

    def limit(self, limits: Mapping[str, Any]) -> str:
        """Return the command that sets limits of its upgrades, by the names of the inputs in Python."""
        given = " ".join(f"{_OPTIONS[key]} {value}" for key, value in limits.items() if key in _OPTIONS)
        return f"`az aks nodepool update {self.is_} {given}`"

    def tag(self, tags: Mapping[str, str]) -> str:
        """Return the command that adds ``tags`` and keeps the other tags."""
        pairs = (f"{key}={value}" for key, value in sorted({**self.tags, **tags}.items()))
        return f"`az aks nodepool update {self.is_} --tags {shlex.join(pairs)}`"


def components(
    urn: str, type_: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]
) -> Iterator[ClusterComponent]:
    """Return the components that a resource is or declares; none for other types."""
    if type_ == POOL:
        yield AksPool(urn, type_, inputs, outputs)
    elif type_ == CLUSTER:
        cluster = AksCluster(urn, type_, inputs, outputs)
        yield cluster
        place = {"resourceName": cluster.name, "resourceGroupName": cluster.group}
        # Azure lists all pools here, including those that are separate resources: all of mode User, and a system pool
        # that took over, which its resource hides.
        for profile in outputs.get("agentPoolProfiles") or inputs.get("agentPoolProfiles") or ():
            if profile.get("mode") == "System":
                yield SystemPool(urn, type_, place, profile)


def _minor(version: Any) -> str:
    """Return the minor of a version such as ``1.35.2``."""
    return ".".join(str(version or "").split(".")[:2])
