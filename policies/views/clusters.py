"""Clusters of the clouds as rules see them, and the environment that they and their groups state."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.environments import ENVIRONMENT_TAG
from policies.resource import Resource, Stack
from policies.rule import resources_of
from policies.views.node_groups.aks import AGENT_POOL, MANAGED_CLUSTER
from policies.views.node_groups.eks import NODE_GROUP

EKS_CLUSTER: Final = "aws:eks/cluster:Cluster"

CLUSTER_INPUTS: Final = {NODE_GROUP: "clusterName", AGENT_POOL: "resourceName"}
"""Input by which a node group names its cluster, by pattern of the group's type token."""

EKS_CLUSTERS: Final = resources_of("each EKS cluster", EKS_CLUSTER)

AKS_CLUSTERS: Final = resources_of("each AKS cluster", MANAGED_CLUSTER)

AKS_CLUSTERS_AND_POOLS: Final = resources_of(
    "each AKS cluster and each of its agent pools", MANAGED_CLUSTER, AGENT_POOL
)
"""For rules whose fact is partly said by the cluster, partly by its pools, which may stand inside it."""

CLUSTERS: Final = resources_of("each cluster of a cloud", EKS_CLUSTER, MANAGED_CLUSTER)


def stated_environment(resource: Resource) -> str | None:
    """Return what a cluster or a group of nodes is tagged with, by the provider's default tags too; None without."""
    places = (resource.props.at(tags, ENVIRONMENT_TAG).text() for tags in ("tags", "tagsAll"))
    return next(filter(None, places), None)


def clusters(stack: Stack) -> list[Resource]:
    """Return the clusters that the stack makes."""
    return [resource for resource in stack if CLUSTERS.types.fullmatch(resource.type)]


def groups_of(cluster: Resource, stack: Stack) -> Iterator[Resource]:
    """Return the node groups made for the cluster; those that it declares inline share its tags."""
    for resource in stack:
        for pattern, key in CLUSTER_INPUTS.items():
            if re.fullmatch(pattern, resource.type) and cluster.urn in resource.depends_on.get(key, ()):
                yield resource


def is_aks_cluster(resource: Resource) -> bool:
    """Return whether the resource is an AKS cluster rather than a pool of one."""
    return bool(AKS_CLUSTERS.types.fullmatch(resource.type))


def aks_clusters(stack: Stack) -> Iterator[Resource]:
    """Return the AKS clusters that the stack makes."""
    return filter(is_aks_cluster, stack)


def eks_clusters(stack: Stack) -> Iterator[Resource]:
    """Return the EKS clusters that the stack makes."""
    return (resource for resource in stack if resource.type == EKS_CLUSTER)
