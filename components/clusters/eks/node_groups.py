"""Managed node groups: the contract's pools in EKS's terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_aws.autoscaling import Tag, TagTagArgs
from pulumi_aws.ec2 import PlacementGroup
from pulumi_aws.eks import (
    NodeGroup,
    NodeGroupLaunchTemplateArgs,
    NodeGroupNodeRepairConfigArgs,
    NodeGroupScalingConfigArgs,
    NodeGroupTaintArgs,
    NodeGroupUpdateConfigArgs,
    NodeGroupWarmPoolConfigArgs,
)
from pulumi_aws.eks.outputs import NodeGroupResource

from components.base import PlatformComponent
from components.clusters.eks.hours import scheduled_actions
from components.clusters.eks.launch_templates import LaunchTemplateArgs, launch_template
from components.contract import groups as contract
from components.contract.aws import NODE_GROUP_NAME_MAX, OwnTag
from components.contract.eks.autoscaling import autoscaling_tags, node_labels
from components.contract.eks.hours import GroupHours, group_hours
from components.contract.eks.spelling import CAPACITY_BLOCK, capacity_type, taint_entry
from components.contract.hours import OfficeHours
from components.contract.names import automatic
from components.contract.pool_upgrade import UpgradeOrder, minutes_at_most
from components.contract.pools import PoolRole

AMI_TYPES: Final = {
    ("amd64", False): "AL2023_x86_64_STANDARD",
    ("amd64", True): "AL2023_x86_64_NVIDIA",
    ("arm64", False): "AL2023_ARM_64_STANDARD",
    ("arm64", True): "AL2023_ARM_64_NVIDIA",
}
"""Image types by architecture and GPU: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html."""

STRATEGIES: Final = {UpgradeOrder.NEW_FIRST: "DEFAULT", UpgradeOrder.OLD_FIRST: "MINIMAL"}
"""Update strategies: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html."""

DRAIN_MINUTES: Final = 15
"""Time in which pods leave a node: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-update-behavior.html."""

UPDATE_MINUTES: Final = 60
"""Default timeout of the provider for an update (terraform-provider-aws, ``internal/service/eks/node_group.go``)."""

FAILED: Final = "CREATE_FAILED"
"""Status of a group whose creation EKS gave up. The provider reports no error, and a refresh hides the failure."""


@dataclass(frozen=True, kw_only=True)
class NodeGroupArgs:
    """Inputs of one node group."""

    group: contract.NodeGroup
    cluster_name: pulumi.Input[str]
    cluster_id: str
    """The name as plain data, for tags that a policy can check before the cluster exists."""
    version: pulumi.Input[str]
    """Minor version of Kubernetes, never newer than the control plane's."""
    release: str | None
    """Release of the image; None for EKS's default."""
    role_arn: pulumi.Input[str]
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """The private subnet of each zone, by zone letter."""
    security_group: pulumi.Input[str]
    """The security group that EKS created for the cluster."""
    disk_gib: int
    tags: Mapping[str, str]
    """Tags of instances and their volumes."""
    user_data: str = ""
    """What instances set up before they join; empty if nothing."""
    hours: OfficeHours | None = None
    """Office hours of the whole cluster; None if it has none."""


class ManagedNodeGroup(PlatformComponent):
    """One group, its launch template, the tags that the autoscaler needs, and its office hours.

    EKS gets no fixed name for the group: Pulumi adds a random suffix, so that a replacement can exist before the old
    group is deleted.
    """

    node_group: NodeGroup

    def __init__(self, name: str, args: NodeGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksNodeGroup", name, None, opts)
        group = args.group
        holds_data = group.role is PoolRole.DATA
        hours = group_hours(group, args.hours)
        is_block = capacity_type(group) == CAPACITY_BLOCK
        near = self._placement_group(name, group)
        template = launch_template(
            name,
            LaunchTemplateArgs(
                group=group,
                disk_gib=args.disk_gib,
                tags=args.tags,
                security_group=args.security_group,
                user_data=args.user_data,
                placement_group=near.name if near else None,
            ),
            self.child(protect=holds_data),
        )
        subnets = [subnet for zone, subnet in args.subnet_ids.items() if group.zone in (None, zone)]
        self.node_group = NodeGroup(
            automatic(name, NODE_GROUP_NAME_MAX),
            cluster_name=args.cluster_name,
            version=args.version,
            release_version=args.release,
            node_role_arn=args.role_arn,
            subnet_ids=subnets,
            ami_type=AMI_TYPES[group.instances[0].architecture, bool(group.gpu_resource)],
            capacity_type=capacity_type(group),
            instance_types=None if is_block else [instance.name for instance in group.instances],
            launch_template=NodeGroupLaunchTemplateArgs(id=template.id, version=template.latest_version.apply(str)),
            labels=node_labels(group),
            taints=[NodeGroupTaintArgs(**taint_entry(taint)) for taint in group.taints],
            scaling_config=NodeGroupScalingConfigArgs(
                min_size=group.size.min, max_size=group.size.max, desired_size=group.initial_nodes
            ),
            update_config=_update_config(group),
            node_repair_config=NodeGroupNodeRepairConfigArgs(enabled=not holds_data),
            warm_pool_config=_warm_pool(group),
            tags={
                "Name": name,
                **({OwnTag.HOURS.value: hours.tag} if hours else {}),
                **({OwnTag.MACHINE_TYPE.value: group.instances[0].name} if is_block else {}),
            },
            opts=self.child(
                protect=holds_data,
                retain_on_delete=holds_data,
                ignore_changes=_left_alone(group),
                custom_timeouts=_timeouts(group),
                # A replaced group must be deleted before its placement group. The engine knows that only from the group
                # itself: the template, which is changed in place, already points to the next placement group by then.
                depends_on=[near] if near else None,
            ),
        )
        self._autoscaling(name, args, hours)
        pulumi.Output.all(self.node_group.status, self.node_group.urn).apply(self._refuse_failed)
        self.register_outputs({"name": self.node_group.node_group_name})

    def _placement_group(self, name: str, group: contract.NodeGroup) -> PlacementGroup | None:
        if not group.is_close_together:
            return None
        # A placement group is in the zone of its first machine, and new machines start before the old ones end.
        return PlacementGroup(f"{name}-{group.zone}", strategy="cluster", opts=self.child())

    def _autoscaling(self, name: str, args: NodeGroupArgs, hours: GroupHours | None) -> None:
        target = self.node_group.resources.apply(_autoscaling_group)
        for key, value in autoscaling_tags(args.group, args.cluster_id, args.disk_gib).items():
            Tag(
                f"{name}/{key}",
                autoscaling_group_name=target,
                tag=TagTagArgs(key=key, value=value, propagate_at_launch=False),
                opts=self.child(),
            )
        if hours:
            scheduled_actions(name, hours, target, self.child)

    def _refuse_failed(self, known: Sequence[str | None]) -> None:
        """Fail an update that leaves a failed group in place; the engine sees no change in such a group."""
        status, urn = known
        if status != FAILED:
            return
        way = f"To re-create it, run `igz-clusters up`, or `pulumi up --replace '{urn}'`"
        message = f"EKS stopped creating this node group ({FAILED}), and a plain update does not retry. {way}."
        if not pulumi.runtime.is_dry_run():
            raise pulumi.RunError(message)
        pulumi.log.warn(message, self.node_group)


def _autoscaling_group(resources: Sequence[NodeGroupResource]) -> str | None:
    # EKS makes one Auto Scaling group for a managed group, whatever its number of zones.
    return next((group.name for resource in resources for group in resource.autoscaling_groups or ()), None)


def _warm_pool(group: contract.NodeGroup) -> NodeGroupWarmPoolConfigArgs | None:
    if group.warm_pool is None:
        return None
    # The warm pool has a fixed size only if both are equal; otherwise AWS prepares all nodes up to the maximum.
    # https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutWarmPool.html
    nodes = group.warm_pool.nodes
    return NodeGroupWarmPoolConfigArgs(
        min_size=nodes, max_group_prepared_capacity=nodes, pool_state=group.warm_pool.state.name
    )


def _update_config(group: contract.NodeGroup) -> NodeGroupUpdateConfigArgs:
    """Return how many nodes an update drains at once, and in which order."""
    nodes, order = group.upgraded_at_once, group.upgrade and group.upgrade.order
    # A full reservation has no capacity for a new node beside the old one; a placement group may have none either.
    if group.reservation or group.is_close_together:
        order = order or UpgradeOrder.OLD_FIRST
    elif group.upgrade:
        order = order or UpgradeOrder.NEW_FIRST
    strategy = STRATEGIES[order] if order else None
    if nodes.endswith("%"):
        return NodeGroupUpdateConfigArgs(max_unavailable_percentage=int(nodes[:-1]), update_strategy=strategy)
    return NodeGroupUpdateConfigArgs(max_unavailable=int(nodes), update_strategy=strategy)


def _timeouts(group: contract.NodeGroup) -> pulumi.CustomTimeouts | None:
    """Return how long an update may take, if the stack file limits it; otherwise the provider's default applies."""
    if group.upgrade is None:
        return None
    minutes = minutes_at_most(group.upgraded_at_once, group.size.max, DRAIN_MINUTES)
    return pulumi.CustomTimeouts(update=f"{max(minutes, UPDATE_MINUTES)}m")


def _left_alone(group: contract.NodeGroup) -> list[str]:
    """Return the inputs for ``ignore_changes``, in the engine's spelling; it silently ignores any other spelling."""
    if group.role is PoolRole.DATA:
        # An update replaces every node, and with it the data on its disks.
        return ["version", "releaseVersion", "launchTemplate"]
    if capacity_type(group) == CAPACITY_BLOCK:
        # EKS updates such a group only while it has no nodes. A new capacity block means a new group.
        return ["version", "releaseVersion", "launchTemplate", "scalingConfig.desiredSize"]
    # The autoscaler sets the size between the bounds. We set the size of a static group: EKS requires it to be within
    # new bounds. With office hours, the minimum of a group depends on the hour. A sleeping cluster gets no updates.
    return [
        *(["scalingConfig.desiredSize"] if group.is_elastic else []),
        *(["scalingConfig.minSize"] if group.hours else []),
    ]
