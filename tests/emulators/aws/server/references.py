"""Refusals that moto lacks: what is in use is not removed, and what is not there is not used.

AWS itself lets roles, keys and launch templates go that a cluster still needs; so does the emulator.
"""

import base64
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any, Final

from emulators.aws.server import file_systems, schedules, store
from emulators.aws.server.errors import AwsError
from emulators.aws.server.requests import Request

USER_DATA_MAX: Final = 16384
"""Maximum number of bytes of user data: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html."""

Check = Callable[[dict[str, Any]], None]


def check(request: Request) -> None:
    """Refuse a request for what it refers to.

    Raises
    ------
    AwsError
        As the service words it.
    """
    if judge := _CHECKS.get(request.operation):
        judge(request.params)


def missing_subnets(ids: list[str]) -> list[str]:
    """Return the ids of subnets that do not exist."""
    known = {id_ for zone in store.ec2().subnets.values() for id_ in zone}
    return [id_ for id_ in ids if id_ not in known]


def missing_security_groups(ids: list[str]) -> list[str]:
    """Return the ids of security groups that do not exist."""
    return [id_ for id_ in ids if store.ec2().get_security_group_from_id(id_) is None]


def has_internet_gateway(vpc: str) -> bool:
    """Return whether a VPC has a way out."""
    return any(gateway.vpc and gateway.vpc.id == vpc for gateway in store.ec2().internet_gateways.values())


def _delete_subnet(params: dict[str, Any]) -> None:
    subnet = params["SubnetId"]
    if any(interface.subnet.id == subnet for interface in store.ec2().enis.values()):
        raise _dependency(f"The subnet '{subnet}' has dependencies and cannot be deleted.")


def _disassociate_block(params: dict[str, Any]) -> None:
    """Refuse to take addresses from subnets; the codes are assumed, botocore has none."""
    id_, ec2 = params["AssociationId"], store.ec2()
    for vpc in ec2.vpcs.values():
        for block in vpc.cidr_block_association_set:
            if block["association_id"] == id_ and block["cidr_block_state"]["state"] == "associated":
                _leave_subnets(vpc.id, block["cidr_block"])
                return
    told = f"The vpc CIDR block association ID '{id_}' does not exist"
    raise AwsError("InvalidVpcCidrBlockAssociationID.NotFound", 400, told)


def _leave_subnets(vpc: str, block: str) -> None:
    for zone in store.ec2().subnets.values():
        for subnet in zone.values():
            if subnet.vpc_id == vpc and IPv4Network(subnet.cidr_block).subnet_of(IPv4Network(block)):
                raise _dependency(f"The CIDR block {block} has dependencies and cannot be disassociated.")


def _delete_security_group(params: dict[str, Any]) -> None:
    group = store.ec2().get_security_group_from_id(params.get("GroupId", ""))
    if group is None:
        return
    if group.is_default:
        raise AwsError(
            "CannotDelete", 400, f'the specified group: "{group.id}" name: "default" cannot be deleted by a user'
        )
    interfaces = store.ec2().enis.values()
    if any(group.id in (each.id for each in interface.group_set) for interface in interfaces) or group.id in _named(
        group.id
    ):
        raise _dependency(f"resource {group.id} has a dependent object")


def _named(group_id: str) -> Iterator[str]:
    """Return the groups that rules of other groups name."""
    for groups in store.ec2().groups.values():
        for group in groups.values():
            for rule in [*group.ingress_rules, *group.egress_rules]:
                if group.id != group_id and rule.source_group:
                    yield rule.source_group.get("GroupId", "")


def _detach_internet_gateway(params: dict[str, Any]) -> None:
    vpc = params["VpcId"]
    if any(address.eni and address.eni.vpc_id == vpc for address in store.ec2().addresses):
        raise _dependency(
            f"Network {vpc} has some mapped public address(es). Please unmap those public address(es) before detaching "
            "the gateway."
        )


def _delete_vpc(params: dict[str, Any]) -> None:
    vpc, ec2 = params["VpcId"], store.ec2()
    endpoints = (endpoint.vpc_id for endpoint in ec2.vpc_end_points.values() if endpoint.state != "deleted")
    groups = (group.vpc_id for group in ec2.groups.get(vpc, {}).values() if not group.is_default)
    interfaces = (interface.vpc_id for interface in ec2.enis.values())
    if has_internet_gateway(vpc) or any(vpc in users for users in (endpoints, groups, interfaces)):
        raise _dependency(f"The vpc '{vpc}' has dependencies and cannot be deleted.")


def _release_address(params: dict[str, Any]) -> None:
    for address in store.ec2().addresses:
        if address.allocation_id == params.get("AllocationId") and address.association_id:
            raise AwsError("InvalidIPAddress.InUse", 400, f"Address {address.public_ip} is in use.")


def _create_nat_gateway(params: dict[str, Any]) -> None:
    for address in store.ec2().addresses:
        if address.allocation_id == params.get("AllocationId") and address.association_id:
            raise AwsError(
                "Resource.AlreadyAssociated",
                400,
                f"Elastic IP address [{address.allocation_id}] is already associated",
            )


def _use_nat_gateway(params: dict[str, Any]) -> None:
    id_ = params.get("NatGatewayId")
    gateway = store.ec2().nat_gateways.get(id_) if id_ else None
    if id_ and (gateway is None or gateway.state not in ("pending", "available")):
        raise AwsError("InvalidNatGatewayID.NotFound", 400, f"The natGateway ID '{id_}' does not exist")


def _delete_nat_gateway(params: dict[str, Any]) -> None:
    gateway = store.ec2().nat_gateways.get(params["NatGatewayId"])
    if gateway is None or gateway.state == "deleted":
        raise AwsError("NatGatewayNotFound", 400, f"The Nat Gateway {params['NatGatewayId']} was not found")


def _attach_internet_gateway(params: dict[str, Any]) -> None:
    vpc = params["VpcId"]
    if has_internet_gateway(vpc):
        raise AwsError("InvalidParameterValue", 400, f"Network {vpc} already has an internet gateway attached")


def _associate_route_table(params: dict[str, Any]) -> None:
    table, subnet = params["RouteTableId"], params.get("SubnetId")
    for other in store.ec2().route_tables.values():
        if other.id != table and any(each.get("SubnetId") == subnet for each in other.associations):
            raise AwsError(
                "Resource.AlreadyAssociated",
                400,
                f"the specified association for route table {table} conflicts with an existing association",
            )


def _create_vpc_endpoint(params: dict[str, Any]) -> None:
    for id_ in params.get("RouteTableIds", []):
        if id_ not in store.ec2().route_tables:
            raise AwsError("InvalidRouteTableID.NotFound", 400, f"The routeTable ID '{id_}' does not exist")
    for id_ in missing_security_groups(params.get("SecurityGroupIds", [])):
        raise AwsError("InvalidGroup.NotFound", 400, f"The security group '{id_}' does not exist")
    vpc = store.ec2().vpcs.get(params["VpcId"])
    if params.get("PrivateDnsEnabled") and vpc and not (vpc.enable_dns_support and vpc.enable_dns_hostnames):
        wanted = "both enableDnsSupport and enableDnsHostnames VPC attributes set to true"
        raise AwsError("InvalidParameter", 400, f"Enabling private DNS requires {wanted} for {vpc.id}")
    for other in store.ec2().vpc_end_points.values():
        if (other.vpc_id, other.service_name, other.state) == (params["VpcId"], params["ServiceName"], "available"):
            _stand_beside(other, params)


def _stand_beside(other: Any, params: dict[str, Any]) -> None:
    """Refuse a second endpoint of a service that would take what the first one has: its routes or its DNS names."""
    for table in params.get("RouteTableIds", []):
        if table in (other.route_table_ids or []):
            told = f"route table {table} already has a route with the prefix list of {other.service_name}"
            raise AwsError("RouteAlreadyExists", 400, told)
    if params.get("PrivateDnsEnabled") and other.private_dns_enabled:
        told = f"private-dns-enabled cannot be set because there is already a conflicting DNS domain in {other.vpc_id}"
        raise AwsError("InvalidParameter", 400, told)


def _tags_of_groups(params: dict[str, Any]) -> None:
    groups = store.autoscaling().autoscaling_groups
    for tag in params["Tags"]:
        if tag.get("ResourceId") not in groups:
            raise AwsError("ValidationError", 400, f"AutoScalingGroup name not found - {tag.get('ResourceId')}")


def _size_of_group(params: dict[str, Any]) -> None:
    name, desired = params["AutoScalingGroupName"], params["DesiredCapacity"]
    group = store.autoscaling().autoscaling_groups.get(name)
    if group is None:
        raise AwsError("ValidationError", 400, f"AutoScalingGroup name not found - AutoScalingGroup {name} not found")
    for side, bound, is_beyond in (
        ("above max", group.max_size or 0, desired > (group.max_size or 0)),
        ("below min", group.min_size or 0, desired < (group.min_size or 0)),
    ):
        if is_beyond:
            message = f"New SetDesiredCapacity value {desired} is {side} value {bound} for the AutoScalingGroup."
            raise AwsError("ValidationError", 400, message)


def _name_launch_templates(params: dict[str, Any]) -> None:
    for id_ in [*params.get("LaunchTemplateIds", []), params.get("LaunchTemplateId")]:
        if id_ and id_ not in store.ec2().launch_templates:
            told = f"The specified launch template, with template ID {id_}, does not exist."
            raise AwsError("InvalidLaunchTemplateId.NotFound", 400, told)


def _make_template(params: dict[str, Any]) -> None:
    """Refuse user data that is too long; the code is assumed to be that of RunInstances."""
    _name_launch_templates(params)
    given = params.get("LaunchTemplateData", {}).get("UserData")
    if given and len(base64.b64decode(given)) > USER_DATA_MAX:
        raise AwsError("InvalidUserData.Malformed", 400, f"User data is limited to {USER_DATA_MAX} bytes")


def _change_key(params: dict[str, Any]) -> None:
    kms = store.kms()
    named = params.get("TargetKeyId") or params.get("KeyId") or ""
    key = kms.keys.get(kms.get_key_id(named))
    if key and key.key_state == "PendingDeletion":
        raise AwsError("KMSInvalidStateException", 400, f"{key.arn} is pending deletion.")


def _dependency(message: str) -> AwsError:
    return AwsError("DependencyViolation", 400, message)


_CHECKS: Final[Mapping[str, Check]] = {
    "autoscaling:CreateOrUpdateTags": _tags_of_groups,
    "autoscaling:DeleteTags": _tags_of_groups,
    "autoscaling:PutScheduledUpdateGroupAction": schedules.check_put,
    "autoscaling:SetDesiredCapacity": _size_of_group,
    "ec2:CreateNatGateway": _create_nat_gateway,
    "ec2:CreateRoute": _use_nat_gateway,
    "ec2:CreateVpcEndpoint": _create_vpc_endpoint,
    "ec2:AssociateRouteTable": _associate_route_table,
    "ec2:AttachInternetGateway": _attach_internet_gateway,
    **dict.fromkeys(("ec2:CreateLaunchTemplate", "ec2:CreateLaunchTemplateVersion"), _make_template),
    "ec2:DeleteLaunchTemplate": _name_launch_templates,
    "ec2:DeleteNatGateway": _delete_nat_gateway,
    "ec2:DeleteSecurityGroup": _delete_security_group,
    "ec2:DeleteSubnet": _delete_subnet,
    "ec2:DeleteVpc": _delete_vpc,
    "ec2:DescribeLaunchTemplates": _name_launch_templates,
    "ec2:DetachInternetGateway": _detach_internet_gateway,
    "ec2:DisassociateVpcCidrBlock": _disassociate_block,
    "ec2:ReleaseAddress": _release_address,
    "ec2:ReplaceRoute": _use_nat_gateway,
    **dict.fromkeys(
        (f"efs:{name}" for name in ("CreateAccessPoint", "CreateMountTarget", "PutBackupPolicy", "UpdateFileSystem")),
        file_systems.refuse_until_available,
    ),
    **dict.fromkeys(
        (
            *("efs:DeleteAccessPoint", "efs:DeleteFileSystemPolicy", "efs:DescribeBackupPolicy"),
            *("efs:DescribeFileSystemPolicy", "efs:PutFileSystemPolicy"),
        ),
        file_systems.refuse,
    ),
    "kms:CreateAlias": _change_key,
    "kms:EnableKeyRotation": _change_key,
    "kms:ScheduleKeyDeletion": _change_key,
    "kms:TagResource": _change_key,
    "kms:UntagResource": _change_key,
    "kms:UpdateAlias": _change_key,
}
