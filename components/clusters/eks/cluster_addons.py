"""In-cluster add-ons for EKS: autoscaler, GPU plug-in, default storage class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_aws.eks import PodIdentityAssociation

from components.addons.cluster_autoscaler import ClusterAutoscaler, ClusterAutoscalerArgs
from components.addons.device_plugin import device_plugins
from components.addons.efa_plugin import EfaPlugin, EfaPluginArgs
from components.addons.gpu_metrics import gpu_metrics
from components.addons.images import (
    autoscaler_image,
    device_plugin_image,
    efa_plugin_image,
    gpu_metrics_image,
    mig_parted_image,
)
from components.addons.storage import DefaultStorageClass, DefaultStorageClassArgs
from components.base import PlatformComponent
from components.clusters.eks.identity import PodRole, ServiceRole, autoscaler_statements, pod_role_args
from components.clusters.eks.managed_addons import CORE_NODES
from components.contract.autoscaler import NAME as AUTOSCALER
from components.contract.autoscaler import NAMESPACE
from components.contract.aws import OwnTag
from components.contract.eks.config import EksConfig
from components.contract.groups import NodeGroup

STORAGE_CLASS: Final = "gp3"
EBS_DRIVER: Final = "ebs.csi.aws.com"
EBS_PARAMETERS: Final = {"type": "gp3", "encrypted": "true"}
"""https://github.com/kubernetes-sigs/aws-ebs-csi-driver/blob/master/docs/parameters.md."""


@dataclass(frozen=True, kw_only=True)
class ClusterAddonsArgs:
    """Inputs of the cluster's own add-ons."""

    choices: EksConfig
    groups: tuple[NodeGroup, ...]
    cluster_name: pulumi.Input[str]
    cluster_arn: str


class ClusterAddons(PlatformComponent):
    """The default storage class; an autoscaler, plug-ins for GPUs and for EFA if there are pools that need them."""

    def __init__(self, name: str, args: ClusterAddonsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksClusterAddons", name, None, opts)
        DefaultStorageClass(
            STORAGE_CLASS,
            DefaultStorageClassArgs(provisioner=EBS_DRIVER, parameters=dict(EBS_PARAMETERS)),
            self.child(),
        )
        if any(group.is_elastic for group in args.groups):
            self._autoscaler(name, args)
        mirrors = args.choices.image_registries
        images = {"image": device_plugin_image(args.choices.gpu, mirrors), "divider": mig_parted_image(mirrors)}
        device_plugins(name, args.groups, self.child, **images)
        if args.choices.gpu.metrics:
            gpu_metrics(name, args.groups, self.child, gpu_metrics_image(mirrors))
        if fast := [group for group in args.groups if group.fabric]:
            self._efa(name, fast, args.choices.region)
        self.register_outputs({})

    def _efa(self, name: str, groups: Sequence[NodeGroup], region: str) -> None:
        EfaPlugin(
            f"{name}-efa-plugin",
            EfaPluginArgs(
                image=efa_plugin_image(region),
                taints=list(dict.fromkeys(taint for group in groups for taint in group.taints)),
            ),
            self.child(),
        )

    def _autoscaler(self, name: str, args: ClusterAddonsArgs) -> None:
        choices = args.choices
        pod = PodRole(service_account=AUTOSCALER, statements=autoscaler_statements(choices.name))
        role = ServiceRole(
            f"{name}-autoscaler",
            pod_role_args(pod, args.cluster_arn, choices.permissions_boundary_arn),
            self.child(),
        )
        identity = PodIdentityAssociation(
            f"{name}-autoscaler",
            cluster_name=args.cluster_name,
            namespace=NAMESPACE,
            service_account=AUTOSCALER,
            role_arn=role.arn,
            opts=self.child(depends_on=[role]),
        )
        ClusterAutoscaler(
            f"{name}-autoscaler",
            ClusterAutoscalerArgs(
                image=autoscaler_image(choices.version, choices.image_registries),
                region=choices.region,
                discovery_tag=(OwnTag.AUTOSCALER.value, choices.name),
                node_selector=CORE_NODES,
                keeps_headroom=any(group.headroom for group in args.groups),
            ),
            # A pod that starts before its identity never gets one.
            self.child(depends_on=[identity]),
        )
