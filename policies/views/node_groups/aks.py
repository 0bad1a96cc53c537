"""Agent pools of AKS: separate resources, or inline in the cluster."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, Final

from typing_extensions import override

from components.contract.aks.spelling import SPELLING
from components.contract.azure import AzureTag
from components.contract.environments import ClusterKind
from components.contract.lifecycle import Lifecycle
from components.contract.taints import AKS_SPOT_TAINT, Taint, TaintEffect
from policies.resource import Resource, Stack, find_in
from policies.rule import Finding
from policies.values import NotJudgeableError, Value
from policies.views.node_groups.cloud_types import CloudTypes
from policies.views.node_groups.facts import NodeGroupFacts
from policies.views.node_groups.spelled import SpelledGroup
from policies.views.type_tokens import azure_native

AGENT_POOL: Final = azure_native("containerservice", "AgentPool")
MANAGED_CLUSTER: Final = azure_native("containerservice", "ManagedCluster")

UPGRADES: Final = {"upgradeChannel": (None, "none"), "nodeOSUpgradeChannel": ("None", "Unmanaged")}
"""Values that do not replace nodes: https://learn.microsoft.com/azure/aks/auto-upgrade-node-os-image.

If unset, AKS replaces node images every week.
"""


class AgentPool(SpelledGroup):
    """One agent pool."""

    kind: ClassVar = ClusterKind.AKS
    spelling: ClassVar = SPELLING
    is_scaled_elsewhere: ClassVar = True
    rolling_inputs: ClassVar = ("orchestratorVersion",)

    @property
    def _bounds(self) -> tuple[str, str]:
        # Without the autoscaler AKS ignores the bounds, and the count is the size.
        return ("minCount", "maxCount") if self._props.at("enableAutoScaling").flag() else ("count", "count")

    @property
    @override
    def size_min(self) -> int | None:
        return self._props.at(self._bounds[0]).integer()

    @property
    @override
    def size_max(self) -> int | None:
        return self._props.at(self._bounds[1]).integer()

    @property
    @override
    def instance_types(self) -> tuple[str, ...]:
        size = self._props.at("vmSize").text()
        return (size,) if size else ()

    @property
    @override
    def is_stopped(self) -> bool:
        return self._props.at("powerState", "code").text() == "Stopped"

    @property
    @override
    def is_reserved(self) -> bool:
        return not self._props.at("capacityReservationGroupID").is_absent

    @property
    @override
    def must_be_close(self) -> bool:
        return not self._props.at("proximityPlacementGroupID").is_absent

    @property
    @override
    def zones(self) -> int | None:
        zones = self._props.at("availabilityZones")
        return None if zones.is_absent else len(zones.elements())

    @property
    @override
    def waits_for_whole_gpus(self) -> bool:
        # AKS adds the label that its autoscaler reads to all nodes with GPUs (kubernetes/autoscaler 1959f5f6,
        # cloudprovider/azure/azure_template.go).
        return True

    @override
    def _desired(self) -> Value:
        return self._props.at("count")

    @override
    def _taints(self) -> list[Callable[[], Taint | None]]:
        stated: list[Callable[[], Taint | None]] = [partial(_taint, entry) for entry in self.taint_entries()]
        # AKS adds this taint by itself, whatever the inputs say.
        return [*stated, lambda: AKS_SPOT_TAINT] if self.lifecycle is Lifecycle.SPOT else stated


def _taint(entry: Value) -> Taint:
    rest, _, effect = (entry.text() or "").rpartition(":")
    key, _, value = rest.partition("=")
    try:
        return Taint(key, value, TaintEffect(effect))
    except ValueError:
        raise NotJudgeableError(entry.path, "must have the form key=value:Effect") from None


def agent_pool(resource: Resource) -> Iterator[AgentPool]:
    """Return the resource as its only pool."""
    yield AgentPool(resource, resource.props)


def inline_agent_pools(resource: Resource) -> Iterator[AgentPool]:
    """Return the pools that a cluster declares itself.

    Azure lists all pools there, including those that are separate resources or were created by hand. If the engine
    ignores the list, pools after the first are the cluster's own only if they are system pools. A system pool that took
    over is a separate resource, as are all other pools then. So the first pool, which it took over from, does not count
    either, although the list of a new cluster still contains it.
    """
    profiles = resource.props.at("agentPoolProfiles").elements()
    has_successor = any(map(_took_over, profiles))
    is_live = "agentPoolProfiles" in resource.ignore_changes
    for index, profile in enumerate(profiles):
        is_first = index == 0 and not has_successor
        if not is_live or is_first or (profile.at("mode").text() == "System" and not _took_over(profile)):
            yield AgentPool(resource, profile)


def _took_over(profile: Value) -> bool:
    tags = profile.raw.get("tags") if isinstance(profile.raw, Mapping) else None
    return isinstance(tags, Mapping) and AzureTag.TOOK_OVER.value in tags


def _inline_tags(cluster: Resource) -> Iterator[tuple[str, tuple[Value, ...]]]:
    for profile in cluster.props.at("agentPoolProfiles").elements():
        yield profile.path, (profile.at("tags"),)


def _public_addresses(resource: Resource) -> Iterator[tuple[str, str]]:
    for pool in find_in(resource, _FINDERS):
        if pool.props.at("enableNodePublicIP").flag():
            yield str(pool), "enableNodePublicIP"


def _data_risks(groups: Sequence[NodeGroupFacts], stack: Stack) -> Iterator[Finding]:
    """Check the automatic upgrades of clusters: they replace the nodes of all pools."""
    for cluster in stack if groups else ():
        if not re.fullmatch(MANAGED_CLUSTER, cluster.type):
            continue
        for key, harmless in UPGRADES.items():
            found = cluster.props.at("autoUpgradeProfile", key).text()
            if found not in harmless:
                yield Finding(
                    f"Cluster '{cluster.name}' has data nodes and {key} {found or 'absent'}; expected {harmless[-1]}.",
                    urn=cluster.urn,
                )


_FINDERS: Final = {AGENT_POOL: agent_pool, MANAGED_CLUSTER: inline_agent_pools}

TYPES: Final = CloudTypes(
    group=AGENT_POOL,
    view=AgentPool,
    finders=_FINDERS,
    cluster_input="resourceName",
    clusters=(MANAGED_CLUSTER,),
    keys=(azure_native("keyvault", "Vault|Key"),),
    networks=(azure_native("network", "VirtualNetwork|Subnet"),),
    disks=(azure_native("compute", "Disk"), azure_native("storage", "StorageAccount|BlobContainer|FileShare")),
    logs=(azure_native("operationalinsights", "Workspace"),),
    tagged=(azure_native("resources", "ResourceGroup"), azure_native("network", "VirtualNetwork")),
    tagged_parts={MANAGED_CLUSTER: _inline_tags},
    public_addresses=dict.fromkeys(_FINDERS, _public_addresses),
    data_risks=_data_risks,
)
"""Azure's types."""
