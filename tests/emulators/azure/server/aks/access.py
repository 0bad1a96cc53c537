"""Who reaches the API server of a cluster.

Sources: https://learn.microsoft.com/azure/aks/private-clusters, where a private endpoint in the network of the nodes is
the only way, and https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges, which beside its ranges lets in
the addresses by which the cluster itself goes out. That a NAT gateway's are among these is assumed.
"""

from collections.abc import Iterable

from emulators.azure.server.ids import ArmId
from emulators.azure.server.store import Resource
from emulators.core.doors import Place


def barrier(cluster: Resource, subnets: Iterable[str], place: Place) -> str:
    """Return what keeps a caller at a place from the API server; empty if nothing does.

    Parameters
    ----------
    subnets
        Ids of those of the nodes.
    """
    api = cluster.properties.get("apiServerAccessProfile") or {}
    if place.network and ArmId(place.network).key in {ArmId(id_).above.above.key for id_ in subnets}:
        return ""
    if api.get("enablePrivateCluster"):
        return f"{cluster.id.name} is private and the caller is not in the network of its nodes"
    if not place.address:
        return "the caller has no way to the Internet"
    ranges = api.get("authorizedIPRanges") or []
    if not ranges or place.is_in(ranges):
        return ""
    return f"{place.address} is not in the authorized ranges of {cluster.id.name}: {', '.join(ranges)}"
