"""A cluster of the pretended cloud as a component."""

from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.base import PlatformComponent
from components.clusters.handle import ClusterHandle
from components.contract.environments import ClusterKind
from components.contract.groups import NodeGroup
from components.contract.pretend.spelling import SPELLING


@dataclass(frozen=True, kw_only=True)
class PretendClusterArgs:
    """Inputs of the cluster."""

    groups: tuple[NodeGroup, ...]


class PretendCluster(PlatformComponent):
    """Node groups, and a way into the cluster."""

    handle: ClusterHandle

    def __init__(self, name: str, args: PretendClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:PretendCluster", name, None, opts)
        provider = kubernetes.Provider(f"{name}-kubernetes", kubeconfig="/nowhere", opts=self.child())
        groups = [self._group(name, group) for group in args.groups]
        self.handle = ClusterHandle(
            name=name, kind=ClusterKind.PRETEND, groups=args.groups, provider=provider, ready=tuple(groups)
        )
        self.register_outputs({})

    def _group(self, name: str, group: NodeGroup) -> pulumi.CustomResource:
        inputs = {
            SPELLING.lifecycle_input: SPELLING.lifecycles[group.lifecycle],
            SPELLING.labels_input: dict(group.labels),
            SPELLING.taints_input: list(map(SPELLING.write_taint, group.taints)),
            "least": group.size.min,
            "most": group.size.max,
            "machines": [instance.name for instance in group.instances],
        }
        ignored = ["size"] if group.is_elastic else []
        return pulumi.CustomResource(
            "pretend:containers:Group", f"{name}-{group.name}", inputs, self.child(ignore_changes=ignored)
        )
