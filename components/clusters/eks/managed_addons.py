"""Add-ons that EKS installs and manages."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pulumi
from pulumi_aws.eks import Addon, AddonPodIdentityAssociationArgs

from components.base import PlatformComponent
from components.clusters.eks.identity import CNI_POLICIES, EBS_POLICIES, PodRole, ServiceRole, pod_role_args
from components.contract.eks.values import PREFIX_DELEGATION
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole

CORE_NODES: Final = {LabelKey.ROLE.value: PoolRole.INITIAL.value}
"""Selector of the initial group, which never scales in, so these pods do not block the autoscaler."""


@dataclass(frozen=True, kw_only=True)
class ManagedAddon:
    """One add-on and its configuration."""

    name: str
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """Its configuration, in the add-on's own schema: ``aws eks describe-addon-configuration``."""
    pod: PodRole | None = None


BEFORE_NODES: Final = (
    ManagedAddon(
        name="vpc-cni",
        # Without this the cluster stores NetworkPolicies and does not enforce them.
        configuration={"enableNetworkPolicy": "true"},
        pod=PodRole(service_account="aws-node", managed_policies=CNI_POLICIES),
    ),
    ManagedAddon(name="kube-proxy"),
    ManagedAddon(name="eks-pod-identity-agent"),
)
"""Add-ons that run on every node and without which nodes do not become ready."""

PREFIXES: Final = {PREFIX_DELEGATION: "true", "WARM_PREFIX_TARGET": "1"}
"""Environment of the CNI with which a node gets pod addresses as prefixes, one more than its pods need.

https://github.com/aws/amazon-vpc-cni-k8s/blob/master/docs/prefix-and-ip-target.md
"""


def before_nodes(*, has_prefixes: bool) -> tuple[ManagedAddon, ...]:
    """Return the add-ons before the nodes.

    When EKS creates a group, it calculates how many pods its nodes may have from the CNI's settings at that moment.
    """
    cni, *others = BEFORE_NODES
    return (replace(cni, configuration={**cni.configuration, "env": PREFIXES}) if has_prefixes else cni, *others)


AFTER_NODES: Final = (
    ManagedAddon(name="coredns", configuration={"nodeSelector": CORE_NODES}),
    ManagedAddon(
        name="aws-ebs-csi-driver",
        configuration={"controller": {"nodeSelector": CORE_NODES}},
        pod=PodRole(service_account="ebs-csi-controller-sa", managed_policies=EBS_POLICIES),
    ),
    ManagedAddon(name="metrics-server", configuration={"nodeSelector": CORE_NODES}),
)
"""Add-ons that new nodes can do without; most of them would never become active before the first group exists."""

NODE_MONITORING: Final = ManagedAddon(
    name="eks-node-monitoring-agent", configuration={"dcgmAgent": {"tolerations": [{"operator": "Exists"}]}}
)
"""Node repair itself sees only the kubelet; the agent reports faults of GPUs, kernel and disks.

Its DCGM tolerates no taint by default, and a GPU node without DCGM counts as faulty (aws/containers-roadmap#2567).
"""


@dataclass(frozen=True, kw_only=True)
class ManagedAddonsArgs:
    """Inputs of a set of add-ons."""

    addons: Sequence[ManagedAddon]
    versions: Mapping[str, str]
    cluster_name: pulumi.Input[str]
    cluster_arn: str
    permissions_boundary: str | None


class ManagedAddons(PlatformComponent):
    """Several add-ons, each with the role of its pods."""

    addons: tuple[Addon, ...]

    def __init__(self, name: str, args: ManagedAddonsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksAddons", name, None, opts)
        self.addons = tuple(self._addon(f"{name}-{addon.name}", addon, args) for addon in args.addons)
        self.register_outputs({"names": [addon.name for addon in args.addons]})

    def _addon(self, name: str, addon: ManagedAddon, args: ManagedAddonsArgs) -> Addon:
        associations, needed = None, []
        if addon.pod:
            role = ServiceRole(
                name, pod_role_args(addon.pod, args.cluster_arn, args.permissions_boundary), self.child()
            )
            account = addon.pod.service_account
            associations = [AddonPodIdentityAssociationArgs(role_arn=role.arn, service_account=account)]
            needed.append(role)
        return Addon(
            name,
            cluster_name=args.cluster_name,
            addon_name=addon.name,
            addon_version=args.versions.get(addon.name),
            configuration_values=json.dumps(addon.configuration, sort_keys=True) if addon.configuration else None,
            pod_identity_associations=associations,
            # Manual changes are overwritten.
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            # EKS refuses a second add-on of the same name.
            opts=self.child(depends_on=needed, delete_before_replace=True),
        )
