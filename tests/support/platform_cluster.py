"""A cluster for tests of the values that systems get."""

from dataclasses import replace
from typing import Any, Final

from components.contract.aks.dns_names import aks_ways_in
from components.contract.aks.ingress import AksIngress
from components.contract.eks.ingress import EksIngress
from components.contract.eks.network import CreatedNetwork
from components.contract.environments import Environment
from components.contract.groups import NodeGroup, resolve_groups
from components.contract.lifecycle import Lifecycle
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.pools import NodePool
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.registry import SYSTEMS, System
from components.contract.taints import OWN_SPOT_TAINT, Taint

MACHINES: Final = ["m6i.2xlarge"]
POOLS: Final = {
    "initial": {"role": "initial", "size": {"min": 3, "max": 3}, "instanceTypes": MACHINES},
    "work": {"role": "workload", "size": {"min": 0, "max": 9}, "instanceTypes": MACHINES},
    "spot": {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 9}, "instanceTypes": MACHINES},
    "notebooks": {"role": "jupyter", "size": {"min": 0, "max": 9}, "instanceTypes": MACHINES},
    "gpu": {"role": "gpu", "size": {"min": 0, "max": 4}, "instanceTypes": ["g5.2xlarge"]},
}
INGRESS: Final = {
    "domain": "ml.example.com",
    "clientCidrs": ["10.0.0.0/8"],
    "certificateArn": "arn:aws:acm:eu-west-1:111122223333:certificate/11111111-2222-3333-4444-555555555555",
}


def platform_cluster(
    *without: str,
    places: bool = True,
    environment: Environment = Environment.DEV,
    spot_taint: Taint | None = OWN_SPOT_TAINT,
) -> PlatformCluster:
    """Return a cluster with all pools but those named; ``places`` as from Kubernetes 1.36 on."""
    pools = {name: NodePool.model_validate(each) for name, each in POOLS.items() if name not in without}
    return PlatformCluster(
        groups=resolve_groups(pools, spot_taint),
        spot_taint=spot_taint,
        pod_resources=DEFAULT_POD_RESOURCES[environment],
        places_by_itself=places,
        environment=environment,
    )


def with_ways_in(cluster: PlatformCluster, **changes: Any) -> PlatformCluster:
    """Return the cluster with ways in through a load balancer of AWS; ``changes`` are of ``cluster.ingress``."""
    ingress = EksIngress.model_validate(INGRESS | changes)
    network = CreatedNetwork.model_validate({"kind": "created", "cidr": "10.20.0.0/16"})
    found = ingress.ways_in(cluster="research", region="eu-west-1", network=network, tags={"team": "ml"})
    return replace(cluster, ways_in=found)


def with_names(cluster: PlatformCluster, zone: str = "dnszones/example.com") -> PlatformCluster:
    """Return the cluster with ways in through a controller of the user's, and names in a zone of Azure."""
    group = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/dns"
    choices = {"domain": "ml.example.com", "className": "traefik", "tlsSecret": "ml-tls"}
    ingress = AksIngress.model_validate({**choices, "dnsZoneId": f"{group}/providers/Microsoft.Network/{zone}"})
    return replace(cluster, ways_in=aks_ways_in(ingress, "research-westeurope"))


def reached(cluster: PlatformCluster, system: System) -> PlatformCluster:
    """Return the cluster with the ways in that a system's values need: those of AWS, if it can have them."""
    found = with_ways_in(cluster)
    return with_names(cluster) if SYSTEMS[system].lack(found) else found


def with_gpus_on_spot(cluster: PlatformCluster) -> PlatformCluster:
    """Return the cluster with all its GPUs on spot nodes."""

    def changed(group: NodeGroup) -> NodeGroup:
        return replace(group, lifecycle=Lifecycle.SPOT) if group.gpu_resource else group

    return replace(cluster, groups=tuple(map(changed, cluster.groups)))
