"""Common interface of all kinds of cluster for the objects inside."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as kubernetes

from components.contract.environments import ClusterKind
from components.contract.existing.cluster_inventory import SharedObject
from components.contract.groups import NodeGroup


@dataclass(frozen=True, kw_only=True)
class ClusterHandle:
    """One cluster, ready to receive objects."""

    name: str
    kind: ClusterKind
    groups: tuple[NodeGroup, ...]
    """Exactly the groups that the cluster has."""
    provider: kubernetes.Provider
    """Kubernetes provider that creates everything inside the cluster."""
    ready: tuple[pulumi.Resource, ...]
    """What must exist before a pod can be placed."""
    kubeconfig: pulumi.Input[str] | None = None
    """A kubeconfig without a secret in it; None if the caller gave it."""
    adopted: frozenset[SharedObject] = frozenset()
    """Existing objects that are adopted because they match ours."""
    facts: Mapping[str, pulumi.Input[object]] = field(default_factory=dict)
    """Further facts about the cluster, for the stack's outputs."""
