"""Clusters of the clouds as rules see them, with their environment and that of their groups."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.environments import ENVIRONMENT_TAG
from policies.resource import Resource, Stack
from policies.rule import resources_of
from policies.views.node_groups import CLOUDS
from policies.views.node_groups.aks import AGENT_POOL, MANAGED_CLUSTER
from policies.views.type_tokens import EKS_CLUSTER

EKS_CLUSTERS: Final = resources_of("each EKS cluster", EKS_CLUSTER)

AKS_CLUSTERS: Final = resources_of("each AKS cluster", MANAGED_CLUSTER)

AKS_CLUSTERS_AND_POOLS: Final = resources_of(
    "each AKS cluster and each of its agent pools", MANAGED_CLUSTER, AGENT_POOL
)
"""Scope of rules that read both the cluster and its pools, which may be declared inside it."""

CLUSTERS: Final = resources_of("each cluster of a cloud", *(type_ for cloud in CLOUDS for type_ in cloud.clusters))


def stated_environment(resource: Resource) -> str | None:
    """Return the environment in the tags of a cluster or node group, default tags included; None if unset."""
    places = (resource.props.at(tags, ENVIRONMENT_TAG).text() for tags in ("tags", "tagsAll"))
    return next(filter(None, places), None)


def clusters(stack: Stack) -> list[Resource]:
    """Return the clusters that the stack creates."""
    return [resource for resource in stack if CLUSTERS.types.fullmatch(resource.type)]


def groups_of(cluster: Resource, stack: Stack) -> Iterator[Resource]:
    """Return the node groups of the cluster; those that it declares inline share its tags."""
    for resource in stack:
        for cloud in CLOUDS:
            if re.fullmatch(cloud.group, resource.type) and cluster.urn in resource.depends_on.get(
                cloud.cluster_input, ()
            ):
                yield resource


def is_aks_cluster(resource: Resource) -> bool:
    """Return whether the resource is an AKS cluster rather than a pool of one."""
    return bool(AKS_CLUSTERS.types.fullmatch(resource.type))


def aks_clusters(stack: Stack) -> Iterator[Resource]:
    """Return the AKS clusters that the stack creates."""
    return filter(is_aks_cluster, stack)


def eks_clusters(stack: Stack) -> Iterator[Resource]:
    """Return the EKS clusters that the stack creates."""
    return (resource for resource in stack if resource.type == EKS_CLUSTER)
