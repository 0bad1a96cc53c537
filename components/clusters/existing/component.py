"""An existing cluster as a component."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core.v1 import NamespacePatch, NodePatch

from components.addons.storage import DefaultStorageClass, DefaultStorageClassArgs
from components.base import PlatformComponent
from components.clusters.existing.node_groups import ExistingPool, ExistingPoolArgs
from components.clusters.handle import ClusterHandle, Share
from components.contract.environments import ClusterKind
from components.contract.existing.cluster_inventory import ClusterInventory, SharedKind, SharedObject
from components.contract.existing.config import ExistingConfig, StorageChoice
from components.contract.groups import NodeGroup
from components.contract.labels import AnnotationKey
from components.contract.shared_storage import Storage
from components.ownership import joined

IDENTITY_NAMESPACE = "kube-system"
"""Its UID identifies the cluster: every cluster has this namespace, and it cannot be deleted."""


@dataclass(frozen=True, kw_only=True)
class ExistingClusterArgs:
    """Inputs of an existing cluster."""

    choices: ExistingConfig
    sighting: ClusterInventory
    """The inventory that `igz-clusters` just took."""
    groups: tuple[NodeGroup, ...]
    storage: Mapping[str, Storage] = field(default_factory=dict)


class ExistingCluster(PlatformComponent):
    """Labels on existing nodes, an annotation on the cluster, and nothing else.

    Everything is applied with unforced server-side apply, next to other managers' fields. A deletion releases only our
    fields: existing nodes, classes and namespaces stay as they are.
    """

    handle: ClusterHandle

    def __init__(self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:ExistingCluster", name, None, opts)
        choices = args.choices
        provider = kubernetes.Provider(
            f"{name}-kubernetes",
            # A path or nothing, so that no key is ever in the state; without one the plug-in uses kubectl's default.
            kubeconfig=choices.kubeconfig,
            context=choices.context,
            # Another kubeconfig does not mean another cluster, so nothing in it is replaced.
            cluster_identifier=choices.cluster_id,
            enable_config_map_mutable=True,
            opts=self.child(),
        )
        mark = NamespacePatch(
            IDENTITY_NAMESPACE,
            metadata=joined(IDENTITY_NAMESPACE, annotations={AnnotationKey.STACK.value: name}),
            opts=self.child(provider=provider),
        )
        for group in args.groups:
            pool = ExistingPoolArgs(group=group, selector=choices.nodes[group.pool].selector)
            ExistingPool(f"{name}-{group.name}", pool, self.child())
        nodes = [
            # Children of the cluster, not of a pool, so that a node that changes pools keeps its resource. Otherwise
            # the engine would delete the old resource after creating the new one, and with it the new labels.
            NodePatch(
                node,
                metadata=joined(node, labels=group.labels, annotations=group.annotations),
                opts=self.child(provider=provider),
            )
            for group in args.groups
            for node in args.sighting.nodes.get(group.pool, ())
        ]
        if choices.storage_class:
            self._storage(choices.storage_class, args.sighting, provider)
        self.handle = ClusterHandle(
            name=name,
            kind=ClusterKind.EXISTING,
            groups=args.groups,
            provider=provider,
            ready=(mark, *nodes),
            adopted=args.sighting.adopted,
            shares={key: Share(class_name=each.storage_class or "") for key, each in args.storage.items()},
            facts={"context": choices.context, "clusterId": choices.cluster_id},
        )
        self.register_outputs({"nodeGroups": [group.name for group in args.groups]})

    def _storage(self, choice: StorageChoice, sighting: ClusterInventory, provider: kubernetes.Provider) -> None:
        DefaultStorageClass(
            choice.name,
            DefaultStorageClassArgs(
                provisioner=choice.provisioner,
                parameters=dict(choice.parameters),
                is_adopted=SharedObject(SharedKind.STORAGE_CLASS, choice.name) in sighting.adopted,
            ),
            self.child(providers=[provider]),
        )
