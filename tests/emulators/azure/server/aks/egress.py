"""How traffic leaves a cluster, and clusters that none leaves: those that are network-isolated.

Sources: articles/aks/concepts-network-isolated.md, network-isolated.md, egress-outboundtype.md and egress-udr.md of
MicrosoftDocs/azure-aks-docs (fb060abe6a8f, 2026), and the issues and pull requests that are named below. Type ``block``
is of preview versions of the API alone, so the model refuses it here. Assumed, as no source tells: that each limitation
of network-isolated clusters is refused with the one code that is known, and the words; that nodes which follow the
registry are not waited for: AKS demands that they were reimaged before the way out goes.
"""

from collections.abc import Container, Mapping
from typing import Any, Final

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.identity import may
from emulators.azure.server.kinds.kind import at
from emulators.azure.server.refusals import invalid
from emulators.azure.server.store import Resource, Store
from emulators.core.refusal import Refusal

NONE, USER_DEFINED, OWN_GATEWAY = "none", "userDefinedRouting", "userAssignedNATGateway"

CACHE, DIRECT = "Cache", "Direct"

REGISTRY: Final = "Microsoft.ContainerRegistry/registries"

ACR_PULL: Final = "7f951dda-4ed3-4680-a7ca-43fe172d538d"
"""Role AcrPull: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles."""

UPGRADES: Final = ("NodeImage", "None")
"""Channels of a network-isolated cluster, by the questions of concepts-network-isolated.md.

Its limitations name ``Unmanaged`` alone, and Azure/AKS#4962 announced ``SecurityPatch`` in 2025: the stricter counts.
"""

HOPS: Final = ("VirtualAppliance", "VirtualNetworkGateway")

EVERYWHERE: Final = "0.0.0.0/0"

UNSUPPORTED: Final = frozenset(
    {
        "microsoft.appconfiguration",
        "microsoft.azureml.kubernetes",
        "microsoft.dapr",
        "microsoft.dataprotection.kubernetes",
        "microsoft.flux",
    }
)
"""Extensions that concepts-network-isolated.md excludes, by their types."""

_OUTBOUND: Final = "networkProfile.outboundType"
_SOURCE: Final = "bootstrapProfile.artifactSource"
_REGISTRY: Final = "bootstrapProfile.containerRegistryId"
_KUBELET: Final = "identityProfile.kubeletidentity.resourceId"


def is_isolated(properties: Mapping[str, Any]) -> bool:
    """Return whether a cluster has no way out that AKS makes or asks for."""
    return bool(at(properties, _OUTBOUND) == NONE)


def check(sent: Mapping[str, Any], kept: Mapping[str, Any], old: Mapping[str, Any] | None) -> None:
    """Refuse a way out, or none, that does not go with the rest of a cluster.

    Parameters
    ----------
    sent, kept, old
        Properties of the request, as they would be kept, and as they are; None of a new cluster.
    """
    _check_registry(sent, kept, old)
    if not is_isolated(kept):
        return
    if at(kept, _SOURCE) != CACHE:
        # hashicorp/terraform-provider-azurerm#29808 has the words.
        raise _isolated("When outbound type is none or block, bootstrapProfile.artifactSource must be 'Cache'")
    if old and not is_isolated(old) and at(old, _SOURCE) != CACHE:
        # hashicorp/terraform-provider-azurerm#32598.
        first = "the artifact source must be 'Cache' and the nodes must be reimaged"
        raise _isolated(f"Before outbound type is changed to none or block, {first}")
    api = kept.get("apiServerAccessProfile") or {}
    if not (api.get("enablePrivateCluster") or api.get("enableVnetIntegration")):
        raise _isolated("When outbound type is none or block, the API server must be private or in the network")
    if at(kept, "networkProfile.networkPlugin") == "kubenet":
        raise _isolated("Network plugin kubenet is not supported in network isolated clusters")
    channel = at(kept, "autoUpgradeProfile.nodeOSUpgradeChannel") or UPGRADES[0]
    if channel not in UPGRADES:
        raise _isolated(f"Node OS upgrade channel {channel} is not supported in network isolated clusters")


def _check_registry(sent: Mapping[str, Any], kept: Mapping[str, Any], old: Mapping[str, Any] | None) -> None:
    """Refuse a registry that no node would use, is none, or cannot be entered by nodes that are still to be made."""
    given = at(sent, _REGISTRY)
    if at(kept, _SOURCE) != CACHE:
        if given:
            raise invalid(_REGISTRY, "It can be set with artifactSource Cache alone.")
        return
    if at(kept, "servicePrincipalProfile.clientId") not in (None, "msi"):
        # Azure/AKS#5821 has code and words.
        told = "When feature \"ServicePrincipalCluster\" is enabled, bootstrapProfile.artifactSource 'Cache'"
        raise Refusal("BootstrapArtifactSourceNotAllowed", 400, f"{told} is not allowed")
    if given and ArmId(given).type.lower() != REGISTRY.lower():
        raise invalid(_REGISTRY, f"{given} is no id of a container registry.")
    if given and old is None and not at(sent, _KUBELET):
        raise _isolated("A registry of your own needs a kubelet identity of your own, which may pull from it")


def check_pull(store: Store, properties: Mapping[str, Any], unseen: Container[str]) -> None:
    """Refuse a kubelet identity that may not pull from the registry of its cluster's owner.

    network-isolated.md has it granted beforehand; that AKS looks at it, and does not let the nodes fail, is assumed.
    """
    kubelet, registry = at(properties, _KUBELET), at(properties, _REGISTRY)
    found = store.find(kubelet) if kubelet else None
    if found is None or not registry or _is_managed(properties, registry):
        return
    if not may(store, str(found.properties["principalId"]), ACR_PULL, ArmId(registry), unseen):
        raise _isolated(f"The kubelet identity {found.id.text} must have the role AcrPull on {registry}")


def with_registry(id_: ArmId, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties with the registry that AKS makes in the nodes' resource group where none is given.

    That it lies there: network-isolated.md, the output of ``az aks show``; its name is assumed.
    """
    profile = dict(properties["bootstrapProfile"])
    if profile.get("artifactSource") != CACHE:
        profile.pop("containerRegistryId", None)
    elif not profile.get("containerRegistryId"):
        name = f"bootstrap{properties['resourceUID']}"
        profile["containerRegistryId"] = f"{_node_group(id_, properties)}/providers/{REGISTRY}/{name}"
    return {**properties, "bootstrapProfile": profile}


def managed_registry(cluster: Resource) -> ArmId | None:
    """Return the registry that AKS makes for a cluster; None if it has none or one of its owner's."""
    registry = at(cluster.properties, _REGISTRY)
    return ArmId(registry) if registry and _is_managed(cluster.properties, registry) else None


def check_way(store: Store, properties: Mapping[str, Any], subnets: list[Resource]) -> None:
    """Refuse a way out that is the owner's to make and is not there.

    Codes and words: of the subnet as users quote them, of its routes MicrosoftDocs/azure-docs#108240 and
    hashicorp/terraform-provider-azurerm#8609.
    """
    outbound = at(properties, _OUTBOUND)
    if outbound in (USER_DEFINED, OWN_GATEWAY) and not subnets:
        raise invalid(_OUTBOUND, f"{outbound} needs pools in a subnet of your own.")
    for subnet in subnets:
        if outbound == OWN_GATEWAY and not subnet.properties.get("natGateway"):
            told = f"Subnet {subnet.id.text} has no NAT gateway, which userAssignedNATGateway needs."
            raise invalid(_OUTBOUND, told)
        if outbound == USER_DEFINED:
            _check_routes(store, subnet)


def _check_routes(store: Store, subnet: Resource) -> None:
    table = store.find(at(subnet.properties, "routeTable.id") or "")
    if table is None:
        told = f"An existing route table has not been associated with subnet {subnet.id.text}"
        message = f"{told}. Please update the route table association"
        raise Refusal("ExistingRouteTableNotAssociatedWithSubnet", 400, message)
    routes = [each.get("properties") or {} for each in table.properties.get("routes") or ()]
    hops = [each.get("nextHopType") for each in routes if each.get("addressPrefix") == EVERYWHERE]
    if not hops:
        told = f"Default route {EVERYWHERE} missing from route table {table.id.text}."
        raise Refusal("RouteTableMissingDefaultRouteError", 400, told)
    for hop in hops:
        if hop not in HOPS:
            told = f"Default route {EVERYWHERE} has a next hop of {hop} but only next hops of {' or '.join(HOPS)}"
            more = "Please see http://aka.ms/aks/outboundtype for more details"
            raise Refusal("RouteTableInvalidNextHop", 400, f"{told} are allowed. {more}")


def check_pool(cluster: Mapping[str, Any], pool: Mapping[str, Any]) -> None:
    """Refuse a pool that a network-isolated cluster cannot have."""
    if is_isolated(cluster) and pool.get("osType") == "Windows":
        raise _isolated("Windows node pools are not supported in network isolated clusters")


def check_extension(cluster: Mapping[str, Any], extension: str) -> None:
    """Refuse an extension that does not start without a way out; that it is refused at once is assumed."""
    if is_isolated(cluster) and extension.lower() in UNSUPPORTED:
        raise _isolated(f"Extension {extension} is not supported in network isolated clusters")


def _is_managed(properties: Mapping[str, Any], registry: str) -> bool:
    group = ArmId(registry).group
    return bool(group and group.name.lower() == str(properties.get("nodeResourceGroup")).lower())


def _node_group(id_: ArmId, properties: Mapping[str, Any]) -> str:
    return f"/subscriptions/{id_.subscription}/resourceGroups/{properties['nodeResourceGroup']}"


def _isolated(message: str) -> Refusal:
    return Refusal("InvalidNetworkIsolatedClusterConfiguration", 400, message)
