"""The local cluster as a component."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes.core.v1 import ConfigMap, Node, NodeSpecArgs, TaintArgs

from components.base import PlatformComponent
from components.clusters.handle import ClusterHandle
from components.clusters.local.node_groups import (
    autoscaler_config,
    autoscaler_templates,
    node_metadata,
    node_taints,
)
from components.clusters.local.shared_storage import shares
from components.contract import autoscaler
from components.contract.environments import ClusterKind
from components.contract.groups import NodeGroup
from components.contract.shared_storage import Storage, Volumes
from components.ownership import owned


@dataclass(frozen=True, kw_only=True)
class LocalClusterArgs:
    """Inputs of the local cluster."""

    kubeconfig: str
    """Path of the instance's kubeconfig file: a path, so that no key is ever in the state."""
    groups: tuple[NodeGroup, ...]
    storage: Mapping[str, Storage] = field(default_factory=dict)
    volumes: Volumes = field(default_factory=dict)
    """Volumes in that storage."""


class LocalCluster(PlatformComponent):
    """Nodes of a control plane that the workbench runs on loopback.

    A static group becomes ``Node`` objects. An elastic one becomes a template of the Cluster Autoscaler, which then
    adds and removes nodes on demand.
    """

    handle: ClusterHandle

    def __init__(self, name: str, args: LocalClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:LocalCluster", name, None, opts)
        provider = kubernetes.Provider(
            f"{name}-kubernetes",
            kubeconfig=args.kubeconfig,
            # The address may change with every start; the cluster stays the same.
            cluster_identifier=f"igz-local-{name}",
            # A changed ConfigMap is updated in place: replacing it would take the autoscaler's pools away.
            enable_config_map_mutable=True,
            opts=self.child(),
        )
        nodes = [
            self._node(f"{group.name}-{index}", group, provider)
            for group in args.groups
            if not group.is_elastic
            for index in range(group.size.min)
        ]
        elastic = tuple(group for group in args.groups if group.is_elastic)
        pools = self._autoscaled(elastic, provider) if elastic else []
        self.handle = ClusterHandle(
            name=name,
            kind=ClusterKind.LOCAL,
            groups=args.groups,
            provider=provider,
            ready=(*nodes, *pools),
            shares=shares(args.storage, args.volumes),
        )
        self.register_outputs({"nodeGroups": [group.name for group in args.groups]})

    def _node(self, name: str, group: NodeGroup, provider: kubernetes.Provider) -> Node:
        return Node(
            name,
            metadata=owned(**node_metadata(group, name)),
            # An untainted node sends no list at all: the list is atomic in server-side apply, and owning it
            # would remove the taints that the node controller sets while a node is not ready.
            spec=NodeSpecArgs(taints=[TaintArgs(**taint) for taint in node_taints(group)]) if group.taints else None,
            opts=self.child(provider=provider),
        )

    def _autoscaled(self, groups: tuple[NodeGroup, ...], provider: kubernetes.Provider) -> list[ConfigMap]:
        return [
            self._config_map(autoscaler.TEMPLATES, {"templates": autoscaler_templates(groups)}, provider),
            self._config_map(autoscaler.CONFIG, {"config": autoscaler_config(groups)}, provider),
        ]

    def _config_map(self, name: str, data: Mapping[str, str], provider: kubernetes.Provider) -> ConfigMap:
        return ConfigMap(
            name,
            metadata=owned(name, namespace=autoscaler.NAMESPACE),
            data=data,
            opts=self.child(provider=provider),
        )
