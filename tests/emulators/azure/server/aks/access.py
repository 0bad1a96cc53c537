"""Who reaches the API server of a cluster.

Sources: https://learn.microsoft.com/azure/aks/private-clusters, where a private endpoint in the network of the nodes is
the only way, and its name is in a zone that AKS links to that network alone, so that others need a peering and a link;
and https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges, which beside its ranges lets in the addresses
by which the cluster itself goes out. That a NAT gateway's are among these is assumed.
"""

from collections.abc import Iterable

from emulators.azure.server.aks.cluster_checks import own_zone
from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.network import are_peered
from emulators.azure.server.kinds.private_dns import knows_names, knows_zone
from emulators.azure.server.store import Resource, Store
from emulators.core.doors import Place


def barrier(store: Store, cluster: Resource, subnets: Iterable[str], place: Place) -> str:
    """Return what keeps a caller at a place from the API server; empty if nothing does.

    Parameters
    ----------
    subnets
        Ids of those of the nodes.
    """
    api = cluster.properties.get("apiServerAccessProfile") or {}
    networks = [ArmId(id_).above.above for id_ in subnets]
    if place.network and ArmId(place.network).key in {each.key for each in networks}:
        return ""
    if api.get("enablePrivateCluster"):
        return _private_barrier(store, cluster, networks, ArmId(place.network))
    if not place.address:
        return "the caller has no way to the Internet"
    ranges = api.get("authorizedIPRanges") or []
    if not ranges or place.is_in(ranges):
        return ""
    return f"{place.address} is not in the authorized ranges of {cluster.id.name}: {', '.join(ranges)}"


def _private_barrier(store: Store, cluster: Resource, networks: Iterable[ArmId], own: ArmId) -> str:
    name = cluster.id.name
    if not any(are_peered(store, own, each) for each in networks):
        return f"{name} is private and the caller is not in the network of its nodes, nor in one peered with it"
    if (cluster.properties.get("apiServerAccessProfile") or {}).get("privateDNSZone") == "none":
        return ""  # its name is in public DNS
    if zone := own_zone(cluster.properties):
        is_known = store.find(zone) is not None and knows_zone(store, ArmId(zone), own)
        return "" if is_known else f"the network of the caller is not linked to the private DNS zone {zone}"
    nodes = ArmId(f"/subscriptions/{cluster.id.subscription}/resourceGroups/{cluster.properties['nodeResourceGroup']}")
    if not knows_names(store, nodes, own):
        return f"the network of the caller is not linked to the private DNS zone of {name}"
    return ""
