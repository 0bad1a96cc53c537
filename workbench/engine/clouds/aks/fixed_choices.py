"""What AKS fixes when it creates a cluster, though the provider plans a change of it: its network and its zone."""

from collections.abc import Mapping
from typing import Any, Final

from components.contract.aks.config import AksConfig
from components.contract.aks.network import OUTBOUND_TYPES, CreatedNetwork, Internet, registry_of
from workbench.engine.clouds.aks.conditions import CLUSTER
from workbench.engine.clouds.fixed_choice import FixedChoice, resources_of

SUBNET: Final = "azure-native:network:Subnet"


def _declared_network(choices: AksConfig) -> str:
    network = choices.network
    return _own(network.node_cidr) if isinstance(network, CreatedNetwork) else choices.network_id.lower()


def _live_network(deployment: Mapping[str, Any]) -> str:
    cluster = next(resources_of(deployment, CLUSTER), None)
    if cluster is None:
        return ""
    for own in resources_of(deployment, SUBNET):
        prefix = own["inputs"].get("addressPrefix")
        return _own(str(prefix)) if prefix else ""
    pools = (cluster.get("outputs") or {}).get("agentPoolProfiles") or cluster["inputs"].get("agentPoolProfiles") or ()
    subnets = (str(pool.get("vnetSubnetID") or "") for pool in pools)
    return next((subnet.lower().rpartition("/subnets/")[0] for subnet in subnets if subnet), "")


def _recorded(deployment: Mapping[str, Any], profile: str) -> Mapping[str, Any]:
    """Return a profile among the inputs of the cluster in the state; empty if there is none."""
    cluster = next(resources_of(deployment, CLUSTER), None) or {}
    return (cluster.get("inputs") or {}).get(profile) or {}


def _live_internet(deployment: Mapping[str, Any]) -> str:
    given = _recorded(deployment, "networkProfile").get("outboundType")
    found = {type_: internet for internet, type_ in OUTBOUND_TYPES.items()}
    return found.get(given, Internet.NAT) if given else ""


def _live_registry(deployment: Mapping[str, Any]) -> str:
    return str(_recorded(deployment, "bootstrapProfile").get("containerRegistryId") or "").lower()


def _declared_zone(choices: AksConfig) -> str:
    if not choices.is_private:
        return ""
    return (choices.private_dns_zone_id or "").lower() or _AKS_ZONE


def _live_zone(deployment: Mapping[str, Any]) -> str:
    zone = _recorded(deployment, "apiServerAccessProfile").get("privateDNSZone")
    return _AKS_ZONE if zone == "system" else str(zone or "").lower()


_AKS_ZONE: Final = "a zone that AKS makes"

_ANOTHER_STACK: Final = (
    "Set it back. For another one, create a second stack with a cluster of another name and move there."
)


def _own(cidr: str) -> str:
    return f"the stack's own network with nodes in {cidr}"


FIXED: Final = (
    FixedChoice(
        key="cluster.network",
        declared=_declared_network,
        live=_live_network,
        # https://learn.microsoft.com/azure/virtual-network/virtual-network-manage-subnet: a used range cannot change.
        # https://learn.microsoft.com/azure/aks/create-node-pools: all pools are in one network.
        step=(
            "Set kind and network, or its range, back: Azure refuses another range of a subnet in use, and AKS another "
            "network. For another one, create a second stack with a cluster of another name and move there."
        ),
    ),
    FixedChoice(
        key="cluster.network.internet",
        declared=lambda choices: str(choices.network.internet),
        live=_live_internet,
        # Azure could change it, but tools/facts/azure.yaml: the provider replaces the cluster (plugin-replacement).
        why="Pulumi's provider would replace the cluster",
        step=_ANOTHER_STACK,
    ),
    FixedChoice(
        key="cluster.network.registryId",
        declared=lambda choices: (registry_of(choices.network) or "").lower(),
        live=_live_registry,
        # https://learn.microsoft.com/azure/aks/network-isolated: nodes use another one once they are reimaged.
        why="nodes pull from the registry that they were created with, and would have no role on it any more",
        step=_ANOTHER_STACK,
    ),
    FixedChoice(
        key="cluster.privateDnsZoneId",
        declared=_declared_zone,
        live=_live_zone,
        # hashicorp/terraform-provider-azurerm, kubernetes_cluster_resource.go: a change makes another cluster.
        step=_ANOTHER_STACK,
    ),
)
