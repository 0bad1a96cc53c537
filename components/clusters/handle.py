"""Common interface of all kinds of cluster for the objects inside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from components.contract.environments import ClusterKind
from components.contract.existing.cluster_inventory import SharedObject
from components.contract.groups import NodeGroup
from components.namespace_identity import NamespaceIdentity

NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
"""Of a class whose only volumes are those of the stack file: https://kubernetes.io/docs/concepts/storage/storage-classes/#local."""


@dataclass(frozen=True, kw_only=True)
class Share:
    """One shared storage of the stack file, as a cluster mounts it."""

    class_name: str
    """Storage class of its claims."""
    provisioner: str = ""
    """CSI driver of that class; empty if the class is not the stack's."""
    parameters: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """Parameters of that class."""
    volumes: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    """Sources of declared volumes by namespace and claim, as Kubernetes spells them; the cluster provisions others."""


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
    transformations: tuple[pulumi.ResourceTransformation, ...] = ()
    """Transformations of everything inside the cluster."""
    shares: Mapping[str, Share] = field(default_factory=dict)
    """Shared storage by its name in the stack file."""
    facts: Mapping[str, pulumi.Input[object]] = field(default_factory=dict)
    """Further facts about the cluster, for the stack's outputs."""
    identities: Mapping[str, NamespaceIdentity] = field(default_factory=dict)
    """Cloud identities of user namespaces, by namespace."""
    owner: pulumi.Resource | None = None
    """Parent of the components inside the cluster; None for the stack itself."""

    def identity_of(self, namespace: str) -> NamespaceIdentity:
        """Return what the cloud made for a namespace's identity; nothing without a cloud."""
        return self.identities.get(namespace, NamespaceIdentity())

    def inside(self, needed: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
        """Return the options of a component inside the cluster, created after ``needed``."""
        return pulumi.ResourceOptions(
            parent=self.owner,
            providers=[self.provider],
            depends_on=list(needed),
            transformations=list(self.transformations),
        )


def replaced_with(cluster: pulumi.Resource) -> pulumi.ResourceTransformation:
    """Return a transformation that replaces Kubernetes objects together with their cluster.

    Nothing else does that: to the provider a cluster of the same name is the same cluster. If its identifier depended
    on the cluster, the engine would close the provider before it has deleted the old objects (``Diff`` in
    https://github.com/pulumi/pulumi/blob/v3.259.0/pkg/resource/deploy/providers/registry.go).

    Parameters
    ----------
    cluster
        The cluster that the stack creates.
    """

    def follow(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if not args.type_.startswith("kubernetes:"):
            return None
        # The new object has the name of the old one, so a deletion afterwards would hit the new one.
        follows = pulumi.ResourceOptions(replace_with=[cluster], delete_before_replace=True)
        return pulumi.ResourceTransformationResult(args.props, pulumi.ResourceOptions.merge(args.opts, follows))

    return follow
