"""Launch templates of node groups."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_aws.ec2 import (
    LaunchTemplate,
    LaunchTemplateBlockDeviceMappingArgs,
    LaunchTemplateBlockDeviceMappingEbsArgs,
    LaunchTemplateCapacityReservationSpecificationArgs,
    LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs,
    LaunchTemplateInstanceMarketOptionsArgs,
    LaunchTemplateMetadataOptionsArgs,
    LaunchTemplateNetworkInterfaceArgs,
    LaunchTemplatePlacementArgs,
    LaunchTemplateTagSpecificationArgs,
)

from components.contract.aws import LAUNCH_TEMPLATE_NAME_MAX
from components.contract.eks.fabric import network_interfaces
from components.contract.groups import NodeGroup
from components.contract.names import automatic
from components.contract.pools import PoolRole

ROOT_DEVICE = "/dev/xvda"
"""Root disk of Amazon Linux 2023: https://docs.aws.amazon.com/linux/al2023/ug/ec2.html."""

METADATA_HOPS = 1
"""One hop reaches the node but not its pods; add-ons have their own roles (EKS best practices, identity and access)."""

RESERVATIONS_ONLY: Final = "capacity-reservations-only"
"""No on-demand machine if the reservation is full: EC2's ``LaunchTemplateCapacityReservationSpecificationRequest``."""


@dataclass(frozen=True, kw_only=True)
class LaunchTemplateArgs:
    """Inputs of a group's launch template."""

    group: NodeGroup
    disk_gib: int
    tags: Mapping[str, str]
    """Tags of instances and their volumes, which the provider's default tags do not reach."""
    security_group: pulumi.Input[str]
    """The cluster's own, for interfaces that the template declares; EKS attaches it to all others."""
    placement_group: pulumi.Input[str] | None = None
    """Name of the placement group of machines that are close together."""
    user_data: str = ""
    """What instances set up before they join; empty if nothing."""


def launch_template(name: str, args: LaunchTemplateArgs, opts: pulumi.ResourceOptions) -> LaunchTemplate:
    """Return the template of a group.

    It sets no machine type, image, subnet, profile or security group: the group or EKS sets these
    (https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html). The exceptions are the machine type of a
    capacity block (https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html) and the security group of
    a fast network's interfaces.
    """
    holds_data = args.group.role is PoolRole.DATA
    tags = {"Name": name, **args.tags}
    return LaunchTemplate(
        automatic(name, LAUNCH_TEMPLATE_NAME_MAX),
        update_default_version=True,
        metadata_options=LaunchTemplateMetadataOptionsArgs(
            http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=METADATA_HOPS
        ),
        block_device_mappings=[
            LaunchTemplateBlockDeviceMappingArgs(
                device_name=ROOT_DEVICE,
                ebs=LaunchTemplateBlockDeviceMappingEbsArgs(
                    volume_type="gp3", volume_size=args.disk_gib, encrypted="true", delete_on_termination="true"
                ),
            )
        ],
        # A stopped or terminated data node has lost its NVMe disks.
        disable_api_stop=holds_data,
        disable_api_termination=holds_data,
        tag_specifications=[
            LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=tags) for kind in ("instance", "volume")
        ],
        user_data=base64.b64encode(args.user_data.encode()).decode() or None,
        **_reserved(args.group),
        **_near(args),
        opts=opts,
    )


def _near(args: LaunchTemplateArgs) -> dict[str, Any]:
    """Return the inputs by which machines are close to each other and have a fast network.

    The cluster's security group lets its members talk to each other in both directions, as such a network requires it
    (https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html).
    """
    inputs: dict[str, Any] = {}
    if args.placement_group:
        inputs["placement"] = LaunchTemplatePlacementArgs(group_name=args.placement_group)
    if args.group.fabric:
        inputs["network_interfaces"] = [
            LaunchTemplateNetworkInterfaceArgs(
                network_card_index=each.card,
                device_index=0,
                interface_type=each.kind,
                security_groups=[args.security_group],
                # EC2 assigns no public address to machines with several interfaces, and starts none that needs one.
                associate_public_ip_address="false",
                delete_on_termination="true",
            )
            for each in network_interfaces(args.group)
        ]
    return inputs


def _reserved(group: NodeGroup) -> dict[str, Any]:
    """Return the inputs by which machines come from the group's reservation, and from nowhere else."""
    reservation = group.reservation
    if not reservation:
        return {}
    is_group = reservation.id.startswith("arn:")
    target = LaunchTemplateCapacityReservationSpecificationCapacityReservationTargetArgs(
        capacity_reservation_id=None if is_group else reservation.id,
        capacity_reservation_resource_group_arn=reservation.id if is_group else None,
    )
    specification = LaunchTemplateCapacityReservationSpecificationArgs(
        capacity_reservation_preference=None if reservation.block else RESERVATIONS_ONLY,
        capacity_reservation_target=target,
    )
    if not reservation.block:
        return {"capacity_reservation_specification": specification}
    return {
        "instance_type": group.instances[0].name,
        "instance_market_options": LaunchTemplateInstanceMarketOptionsArgs(market_type="capacity-block"),
        "capacity_reservation_specification": specification,
    }
