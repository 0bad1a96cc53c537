"""Everything that exists, by type, with the ids that Pulumi's state has.

Types of Pulumi are compared with a state. What AWS made by itself has types of CloudFormation: it is in no state, and
must be gone when a cluster is. The default VPC, which every account has, is left out with all that is in it.
"""

import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from emulators.aws.server import placement_groups, store
from emulators.aws.server.autoscaling import MADE_BY_EKS, OWN

ReadResult = Iterator[tuple[str, str]]


def inventory() -> Mapping[str, list[str]]:
    """Return the ids of what exists by type; a type of which there is nothing is not in it. EKS's own is not either."""
    found: dict[str, list[str]] = {}
    for parts in (_network(), _gateways(), _routes(), _security_groups(), _machines(), _files(), _identity(), _rest()):
        for type_, id_ in parts:
            found.setdefault(type_, []).append(id_)
    return {type_: sorted(ids) for type_, ids in sorted(found.items())}


def _own_vpcs() -> set[str]:
    return {vpc.id for vpc in store.ec2().vpcs.values() if not vpc.is_default}


def _network() -> ReadResult:
    ec2, vpcs = store.ec2(), _own_vpcs()
    yield from (("aws:ec2/vpc:Vpc", id_) for id_ in vpcs)
    for vpc in vpcs:
        # The first block is the VPC's own.
        for block in ec2.vpcs[vpc].cidr_block_association_set[1:]:
            if block["cidr_block_state"]["state"] == "associated":
                yield "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation", block["association_id"]
    for zone in ec2.subnets.values():
        yield from (("aws:ec2/subnet:Subnet", subnet.id) for subnet in zone.values() if subnet.vpc_id in vpcs)
    for log in ec2.flow_logs.values():
        yield "aws:ec2/flowLog:FlowLog", log.id
    for interface in ec2.enis.values():
        yield "AWS::EC2::NetworkInterface", interface.id


def _gateways() -> ReadResult:
    ec2 = store.ec2()
    yield from (("aws:ec2/eip:Eip", address.allocation_id or address.public_ip) for address in ec2.addresses)
    yield from (("aws:ec2/internetGateway:InternetGateway", id_) for id_ in ec2.internet_gateways)
    for gateway in ec2.nat_gateways.values():
        if gateway.state != "deleted":
            yield "aws:ec2/natGateway:NatGateway", gateway.id
    for endpoint in ec2.vpc_end_points.values():
        if endpoint.state != "deleted":
            yield "aws:ec2/vpcEndpoint:VpcEndpoint", endpoint.id


def _routes() -> ReadResult:
    vpcs = _own_vpcs()
    for table in store.ec2().route_tables.values():
        # The main table comes and goes with its VPC.
        if table.vpc_id not in vpcs or table.main_association_id:
            continue
        yield "aws:ec2/routeTable:RouteTable", table.id
        for association in table.associations:
            yield "aws:ec2/routeTableAssociation:RouteTableAssociation", association["RouteTableAssociationId"]
        for route in table.routes:
            # A gateway endpoint's route to a prefix list belongs to the endpoint.
            if not route.local and route.destination_cidr_block:
                yield "aws:ec2/route:Route", route_id(table.id, route.destination_cidr_block)


def route_id(table: str, destination: str) -> str:
    """Return a route's id as the provider makes it up.

    Source: hashicorp/terraform-provider-aws, internal/service/ec2/id.go, ``routeCreateID``.
    """
    return f"r-{table}{zlib.crc32(destination.encode())}"


def _security_groups() -> ReadResult:
    ec2, vpcs = store.ec2(), _own_vpcs()
    for vpc in vpcs:
        for group in ec2.groups[vpc].values():
            if group.is_default:
                yield "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", group.id
            elif _is_of_eks(group):
                yield "AWS::EC2::SecurityGroup", group.id
                for rule in group.ingress_rules:
                    # EKS's own rule is for the members of the group.
                    if (rule.source_group or {}).get("GroupId") != group.id:
                        yield "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", rule.id
                continue
            else:
                yield "aws:ec2/securityGroup:SecurityGroup", group.id
            for rule in group.ingress_rules:
                yield "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", rule.id
            for rule in group.egress_rules:
                yield "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", rule.id


def _machines() -> ReadResult:
    ec2 = store.ec2()
    for template in ec2.launch_templates.values():
        is_of_eks = _is_of_eks(template)
        yield "AWS::EC2::LaunchTemplate" if is_of_eks else "aws:ec2/launchTemplate:LaunchTemplate", template.id
    yield from (("aws:ec2/placementGroup:PlacementGroup", name) for name in placement_groups.groups())
    for reservation in ec2.reservations.values():
        for instance in reservation.instances:
            if instance.state != "terminated":
                yield "AWS::EC2::Instance", instance.id
    for group in store.autoscaling().autoscaling_groups.values():
        yield "AWS::AutoScaling::AutoScalingGroup", group.name
        for tag in group.tags:
            if OWN not in tag:
                yield "aws:autoscaling/tag:Tag", f"{group.name},{tag['Key']}"
    for action in store.autoscaling().scheduled_actions.values():
        yield "aws:autoscaling/schedule:Schedule", action.scheduled_action_name


def _files() -> ReadResult:
    efs = store.efs()
    for id_, files in efs.file_systems_by_id.items():
        yield "aws:efs/fileSystem:FileSystem", id_
        if files.backup_policy:
            yield "aws:efs/backupPolicy:BackupPolicy", id_
        if files.file_system_policy:
            yield "aws:efs/fileSystemPolicy:FileSystemPolicy", id_
    yield from (("aws:efs/mountTarget:MountTarget", id_) for id_ in efs.mount_targets_by_id)
    yield from (("aws:efs/accessPoint:AccessPoint", id_) for id_ in efs.access_points)


def _identity() -> ReadResult:
    for role in store.iam().get_roles():
        yield "aws:iam/role:Role", role.name
        yield from (("aws:iam/rolePolicy:RolePolicy", f"{role.name}:{policy}") for policy in role.policies)
        for arn in role.managed_policies:
            yield "aws:iam/rolePolicyAttachment:RolePolicyAttachment", f"{role.name}/{arn}"


def _rest() -> ReadResult:
    for key in store.kms().keys.values():
        if key.key_state != "PendingDeletion":
            yield "aws:kms/key:Key", key.id
        yield from (("aws:kms/alias:Alias", alias) for alias in key.aliases)
    yield from (("aws:cloudwatch/logGroup:LogGroup", name) for name in store.logs().groups)


def _is_of_eks(tagged: Any) -> bool:
    return any(tag["key"].removeprefix("aws:") == MADE_BY_EKS for tag in tagged.get_tags())
