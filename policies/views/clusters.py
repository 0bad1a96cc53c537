"""Managed control planes as rules see them: one resource each, in its cloud's own words."""

import re
from collections.abc import Iterator
from typing import Final

from policies.resource import Resource, Stack
from policies.rule import EachOf
from policies.views.node_groups.aks import AGENT_POOL, MANAGED_CLUSTER

EKS_CLUSTER: Final = "aws:eks/cluster:Cluster"

EKS_CLUSTERS: Final = EachOf(
    noun="each EKS cluster",
    types=re.compile(EKS_CLUSTER),
    find=lambda resource: (resource,),
)

AKS_CLUSTERS: Final = EachOf(
    noun="each AKS cluster",
    types=re.compile(MANAGED_CLUSTER),
    find=lambda resource: (resource,),
)

AKS_CLUSTERS_AND_POOLS: Final = EachOf(
    noun="each AKS cluster and each of its agent pools",
    types=re.compile(f"{MANAGED_CLUSTER}|{AGENT_POOL}"),
    find=lambda resource: (resource,),
)
"""For rules whose fact is partly said by the cluster, partly by its pools, which may stand inside it."""


def is_aks_cluster(resource: Resource) -> bool:
    """Return whether the resource is an AKS cluster rather than a pool of one."""
    return bool(AKS_CLUSTERS.types.fullmatch(resource.type))


def aks_clusters(stack: Stack) -> Iterator[Resource]:
    """Return the AKS clusters that the stack makes."""
    return filter(is_aks_cluster, stack)


def eks_clusters(stack: Stack) -> Iterator[Resource]:
    """Return the EKS clusters that the stack makes."""
    return (resource for resource in stack if resource.type == EKS_CLUSTER)
