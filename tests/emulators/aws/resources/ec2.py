"""EC2: the network and what machines start from. Sources: internal/service/ec2/*.go."""

import zlib
from collections.abc import Mapping
from typing import Any, Final

from emulators.aws.resources.kinds import (
    Change,
    DescribeCall,
    Given,
    Kind,
    Minutes,
    Params,
    Removal,
    State,
    Tagging,
    if_given,
)
from emulators.aws.resources.requests import members_of
from workbench.offline.aws.operations import OPERATIONS, Request

_TAGGING: Final = Tagging("ec2", "CreateTags", "DeleteTags", {"Resources": ["{id}"]}, "Tags", "Tags")
_IN_USE: Final = (("DependencyViolation", ""),)
_AVAILABLE: Final = State("State", "available", frozenset({"pending"}))

# --- Network ---------------------------------------------------------------------------------------------------------


def _first(operation: str, names: str, of: str) -> DescribeCall:
    return DescribeCall("ec2", operation, {names: ["{id}"]}, f"{of}[0]")


def _attribute(name: str) -> DescribeCall:
    """Return the look at one attribute of a VPC; EC2 tells one at a time."""
    member = name[0].upper() + name[1:]
    return DescribeCall("ec2", "DescribeVpcAttribute", {"VpcId": "{id}", "Attribute": name}, f"{member}.Value")


def _set(name: str, member: str) -> Change:
    """Return the change of one attribute of a VPC; EC2 takes one at a time."""
    request = Request("ec2", "ModifyVpcAttribute", {name: f"{member}.Value"}, inside=None)
    return Change(inputs=(name,), request=request, is_also_first=True)


def _of_vpc(operation: str, at: str, *more: Mapping[str, Any]) -> DescribeCall:
    return DescribeCall("ec2", operation, {"Filters": [{"Name": "vpc-id", "Values": ["{id}"]}, *more]}, at)


VPC: Final = Kind(
    noun="EC2 VPC",
    made="Vpc.VpcId",
    keys={"VpcId": "{id}"},
    look=_first("DescribeVpcs", "VpcIds", "Vpcs"),
    more={
        "enableDnsSupport": _attribute("enableDnsSupport"),
        "enableDnsHostnames": _attribute("enableDnsHostnames"),
        "mainRouteTableId": _of_vpc(
            "DescribeRouteTables",
            "RouteTables[0].RouteTableId",
            {"Name": "association.main", "Values": ["true"]},
        ),
        "defaultNetworkAclId": _of_vpc(
            "DescribeNetworkAcls", "NetworkAcls[0].NetworkAclId", {"Name": "default", "Values": ["true"]}
        ),
        "defaultSecurityGroupId": _of_vpc(
            "DescribeSecurityGroups",
            "SecurityGroups[0].GroupId",
            {"Name": "group-name", "Values": ["default"]},
        ),
    },
    gone=frozenset({"InvalidVpcID.NotFound"}),
    told={"enableDnsSupport": "enableDnsSupport", "enableDnsHostnames": "enableDnsHostnames"},
    filled=frozenset({"enableDnsSupport", "enableDnsHostnames", "instanceTenancy"}),
    outputs={
        "defaultNetworkAclId": "defaultNetworkAclId",
        "defaultRouteTableId": "mainRouteTableId",
        "defaultSecurityGroupId": "defaultSecurityGroupId",
        "dhcpOptionsId": "DhcpOptionsId",
        "mainRouteTableId": "mainRouteTableId",
        "ownerId": "OwnerId",
    },
    arn="ec2:vpc/{id}",
    state=_AVAILABLE,
    minutes=Minutes(create=5, update=5, delete=5),
    changes=(_set("enableDnsSupport", "EnableDnsSupport"), _set("enableDnsHostnames", "EnableDnsHostnames")),
    tagging=_TAGGING,
    tag_type="vpc",
    removal=Removal((("ec2", "DeleteVpc", {"VpcId": "{id}"}),), _IN_USE),
)

SUBNET: Final = Kind(
    noun="EC2 Subnet",
    made="Subnet.SubnetId",
    keys={"SubnetId": "{id}"},
    look=_first("DescribeSubnets", "SubnetIds", "Subnets"),
    gone=frozenset({"InvalidSubnetID.NotFound"}),
    filled=frozenset({"availabilityZone", "availabilityZoneId", "privateDnsHostnameTypeOnLaunch"}),
    outputs={"arn": "SubnetArn", "ownerId": "OwnerId"},
    state=_AVAILABLE,
    minutes=Minutes(create=10, update=10, delete=20),
    changes=(
        Change(
            inputs=("mapPublicIpOnLaunch",),
            request=Request("ec2", "ModifySubnetAttribute", {"mapPublicIpOnLaunch": "MapPublicIpOnLaunch.Value"}, None),
            is_also_first=True,
            # Off is what a subnet is made with.
            build=lambda given: {} if given.old or given.new.get("mapPublicIpOnLaunch") else None,
        ),
    ),
    tagging=_TAGGING,
    tag_type="subnet",
    removal=Removal((("ec2", "DeleteSubnet", {"SubnetId": "{id}"}),), _IN_USE),
)


def _detach(given: Given) -> Params | None:
    return {"VpcId": given.old["vpcId"]} if given.old.get("vpcId") else None


INTERNET_GATEWAY: Final = Kind(
    noun="EC2 Internet Gateway",
    made="InternetGateway.InternetGatewayId",
    keys={"InternetGatewayId": "{id}"},
    look=_first("DescribeInternetGateways", "InternetGatewayIds", "InternetGateways"),
    gone=frozenset({"InvalidInternetGatewayID.NotFound", "Gateway.NotAttached"}),
    told={"vpcId": "Attachments[0].VpcId"},
    filled=frozenset({"vpcId"}),
    outputs={"ownerId": "OwnerId"},
    arn="ec2:internet-gateway/{id}",
    minutes=Minutes(delete=20),
    changes=(
        Change(inputs=("vpcId",), request=Request("ec2", "DetachInternetGateway", inside=None), build=_detach),
        Change(
            inputs=("vpcId",),
            request=Request("ec2", "AttachInternetGateway"),
            build=if_given("vpcId"),
            is_also_first=True,
        ),
    ),
    tagging=_TAGGING,
    tag_type="internet-gateway",
    removal=Removal(
        (
            ("ec2", "DetachInternetGateway", {"InternetGatewayId": "{id}", "VpcId": "{vpcId}"}),
            ("ec2", "DeleteInternetGateway", {"InternetGatewayId": "{id}"}),
        ),
        _IN_USE,
        needs={"DetachInternetGateway": "vpcId"},
    ),
)

ROUTE_TABLE: Final = Kind(
    noun="EC2 Route Table",
    made="RouteTable.RouteTableId",
    look=_first("DescribeRouteTables", "RouteTableIds", "RouteTables"),
    gone=frozenset({"InvalidRouteTableID.NotFound"}),
    # Routes are resources of their own here, and come and go after the table.
    untold=frozenset({"routes", "propagatingVgws"}),
    filled=frozenset({"routes", "propagatingVgws"}),
    outputs={"ownerId": "OwnerId"},
    arn="ec2:route-table/{id}",
    minutes=Minutes(create=5, update=2, delete=5),
    tagging=_TAGGING,
    tag_type="route-table",
    removal=Removal((("ec2", "DeleteRouteTable", {"RouteTableId": "{id}"}),), _IN_USE),
)


def _association(keys: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    # A replacement of the table gives the association another id, the subnet stays.
    return [{"Name": "association.subnet-id", "Values": [keys["subnetId"]]}]


_CURRENT: Final = "RouteTables[].Associations[?SubnetId=='{subnetId}'][] | [0]"


def _current(keys: Mapping[str, Any]) -> str:
    return str(keys.get("associationId") or keys["id"])


ROUTE_TABLE_ASSOCIATION: Final = Kind(
    noun="EC2 Route Table Association",
    made="AssociationId",
    imported="{subnetId}/{routeTableId}",
    look=DescribeCall(
        "ec2",
        "DescribeRouteTables",
        {"Filters": _association},
        _CURRENT,
        shape="RouteTables.Associations",
    ),
    gone=frozenset({"InvalidAssociationID.NotFound"}),
    outputs={"associationId": "RouteTableAssociationId"},
    passing=(("InvalidRouteTableID.NotFound", ""),),
    changes=(
        Change(
            inputs=("routeTableId",),
            request=Request("ec2", "ReplaceRouteTableAssociation"),
            build=lambda given: {"AssociationId": _current(given.keys)},
        ),
    ),
    removal=Removal((("ec2", "DisassociateRouteTable", {"AssociationId": _current}),)),
)

_DESTINATION: Final = {"RouteTableId": "{routeTableId}", "DestinationCidrBlock": "{destinationCidrBlock}"}


ROUTE: Final = Kind(
    noun="EC2 Route",
    id="r-{routeTableId}{hash}",
    imported="{routeTableId}_{destinationCidrBlock}",
    derived={"hash": lambda keys: zlib.crc32(str(keys.get("destinationCidrBlock", "")).encode())},
    keys=_DESTINATION,
    look=DescribeCall(
        "ec2",
        "DescribeRouteTables",
        {"RouteTableIds": ["{routeTableId}"]},
        "RouteTables[0].Routes[?DestinationCidrBlock=='{destinationCidrBlock}'] | [0]",
        shape="RouteTables.Routes",
    ),
    gone=frozenset({"InvalidRouteTableID.NotFound", "InvalidRoute.NotFound"}),
    outputs={"origin": "Origin", "state": "State"},
    minutes=Minutes(create=5, update=2, delete=5),
    changes=(
        Change(
            inputs=("gatewayId", "natGatewayId"),
            request=Request("ec2", "ReplaceRoute"),
        ),
    ),
    removal=Removal((("ec2", "DeleteRoute", _DESTINATION),)),
)

ADDRESS: Final = Kind(
    noun="EC2 EIP",
    made="AllocationId",
    look=_first("DescribeAddresses", "AllocationIds", "Addresses"),
    gone=frozenset({"InvalidAllocationID.NotFound", "InvalidAddress.NotFound"}),
    filled=frozenset({"domain", "networkBorderGroup", "publicIpv4Pool", "address", "instance", "networkInterface"}),
    outputs={
        "allocationId": "AllocationId",
        "associationId": "AssociationId",
        "privateIp": "PrivateIpAddress",
        "publicIp": "PublicIp",
    },
    arn="ec2:elastic-ip/{id}",
    minutes=Minutes(create=15, update=5, delete=3),
    tagging=_TAGGING,
    tag_type="elastic-ip",
    removal=Removal((("ec2", "ReleaseAddress", {"AllocationId": "{id}"}),), (("InvalidIPAddress.InUse", ""),)),
)

NAT_GATEWAY: Final = Kind(
    noun="EC2 NAT Gateway",
    made="NatGateway.NatGatewayId",
    look=_first("DescribeNatGateways", "NatGatewayIds", "NatGateways"),
    gone=frozenset({"NatGatewayNotFound", "InvalidNatGatewayID.NotFound"}),
    told={
        "allocationId": "NatGatewayAddresses[0].AllocationId",
        "privateIp": "NatGatewayAddresses[0].PrivateIp",
    },
    filled=frozenset({"connectivityType", "privateIp", "vpcId"}),
    outputs={
        "associationId": "NatGatewayAddresses[0].AssociationId",
        "networkInterfaceId": "NatGatewayAddresses[0].NetworkInterfaceId",
        "publicIp": "NatGatewayAddresses[0].PublicIp",
    },
    state=State(
        "State",
        "available",
        frozenset({"pending"}),
        gone=frozenset({"deleted"}),
        reasons="[FailureMessage] | [?@]",
    ),
    minutes=Minutes(create=10, update=10, delete=30),
    tagging=_TAGGING,
    tag_type="natgateway",
    removal=Removal((("ec2", "DeleteNatGateway", {"NatGatewayId": "{id}"}),)),
)


def _moved(given: Given) -> Params:
    """Return what to add to an endpoint and what to take from it."""
    members: dict[str, Any] = {}
    for name, member in {
        "routeTableIds": "RouteTableIds",
        "securityGroupIds": "SecurityGroupIds",
        "subnetIds": "SubnetIds",
    }.items():
        old, new = set(given.old.get(name) or ()), set(given.new.get(name) or ())
        members[f"Add{member}"] = sorted(new - old) or None
        members[f"Remove{member}"] = sorted(old - new) or None
    if given.old.get("policy") != given.new.get("policy"):
        members |= {"PolicyDocument": given.new.get("policy"), "ResetPolicy": None if given.new.get("policy") else True}
    if given.old.get("privateDnsEnabled") != given.new.get("privateDnsEnabled"):
        members["PrivateDnsEnabled"] = bool(given.new.get("privateDnsEnabled"))
    return members


ENDPOINT: Final = Kind(
    noun="EC2 VPC Endpoint",
    made="VpcEndpoint.VpcEndpointId",
    keys={"VpcEndpointId": "{id}"},
    look=_first("DescribeVpcEndpoints", "VpcEndpointIds", "VpcEndpoints"),
    gone=frozenset({"InvalidVpcEndpointId.NotFound", "InvalidVpcEndpoint.NotFound"}),
    told={"policy": "PolicyDocument", "securityGroupIds": "Groups[].GroupId"},
    filled=frozenset(
        {
            "dnsOptions",
            "ipAddressType",
            "policy",
            "privateDnsEnabled",
            "routeTableIds",
            "securityGroupIds",
            "serviceRegion",
            "subnetConfigurations",
            "subnetIds",
            "vpcEndpointType",
        }
    ),
    outputs={
        "dnsEntries": "DnsEntries[].{dnsName: DnsName, hostedZoneId: HostedZoneId}",
        "networkInterfaceIds": "NetworkInterfaceIds",
        "ownerId": "OwnerId",
        "requesterManaged": "RequesterManaged",
        "state": "State",
    },
    arn="ec2:vpc-endpoint/{id}",
    state=State(
        "State",
        "available",
        frozenset({"pending"}),
        gone=frozenset({"deleted"}),
        reasons="[LastError.Message] | [?@]",
    ),
    changes=(
        Change(
            inputs=("policy", "privateDnsEnabled", "routeTableIds", "securityGroupIds", "subnetIds"),
            request=Request("ec2", "ModifyVpcEndpoint", inside=None),
            build=_moved,
        ),
    ),
    tagging=_TAGGING,
    tag_type="vpc-endpoint",
    removal=Removal((("ec2", "DeleteVpcEndpoints", {"VpcEndpointIds": ["{id}"]}),)),
)


def _flow_log(given: Given) -> Params:
    kinds = {"vpcId": "VPC", "subnetId": "Subnet", "eniId": "NetworkInterface"}
    return {"ResourceType": next(kind for name, kind in kinds.items() if given.new.get(name))}


FLOW_LOG: Final = Kind(
    noun="Flow Log",
    made="FlowLogIds[0]",
    look=_first("DescribeFlowLogs", "FlowLogIds", "FlowLogs"),
    gone=frozenset({"InvalidFlowLogId.NotFound"}),
    told={"iamRoleArn": "DeliverLogsPermissionArn", "vpcId": "ResourceId"},
    filled=frozenset({"logDestination", "logDestinationType", "logFormat", "maxAggregationInterval"}),
    arn="ec2:vpc-flow-log/{id}",
    create=_flow_log,
    passing=(("InvalidParameter", "Unable to assume given IAM role"),),
    tagging=_TAGGING,
    tag_type="vpc-flow-log",
    removal=Removal((("ec2", "DeleteFlowLogs", {"FlowLogIds": ["{id}"]}),)),
)

# --- Security groups -------------------------------------------------------------------------------------------------

_GROUP_GONE: Final = frozenset({"InvalidGroup.NotFound", "InvalidGroupId.Malformed"})


def _revoked(direction: str, *inputs: str) -> Change:
    """Return the change that takes away the rules that AWS gives a group: all out, and members to each other."""
    member = {"Egress": "IpPermissionsEgress", "Ingress": "IpPermissions"}[direction]

    def build(given: Given) -> Params | None:
        groups = given.aws.call("ec2", "DescribeSecurityGroups", GroupIds=[given.keys["id"]])["SecurityGroups"]
        rules = groups[0].get(member)
        return {"GroupId": given.keys["id"], "IpPermissions": rules} if rules else None

    request = Request("ec2", f"RevokeSecurityGroup{direction}", inside=None)
    return Change(inputs=inputs, request=request, build=build, is_also_first=True)


SECURITY_GROUP: Final = Kind(
    noun="Security Group",
    made="GroupId",
    look=_first("DescribeSecurityGroups", "GroupIds", "SecurityGroups"),
    gone=_GROUP_GONE,
    told={"name": "GroupName"},
    carried=frozenset({"revokeRulesOnDelete"}),
    filled=frozenset({"description", "egress", "ingress", "name", "vpcId"}),
    outputs={"ownerId": "OwnerId"},
    arn="ec2:security-group/{id}",
    minutes=Minutes(create=10, delete=15),
    changes=(_revoked("Egress", "vpcId"),),
    tagging=_TAGGING,
    tag_type="security-group",
    removal=Removal((("ec2", "DeleteSecurityGroup", {"GroupId": "{id}"}),), (*_IN_USE, ("InvalidGroup.InUse", ""))),
)


def _default_group(given: Given) -> Params:
    asked = [{"Name": "vpc-id", "Values": [given.new["vpcId"]]}, {"Name": "group-name", "Values": ["default"]}]
    group: dict[str, Any] = given.aws.call("ec2", "DescribeSecurityGroups", Filters=asked)["SecurityGroups"][0]
    if wanted := given.new.get("tags"):
        tags = [{"Key": key, "Value": str(value)} for key, value in wanted.items()]
        given.aws.call("ec2", "CreateTags", Resources=[group["GroupId"]], Tags=tags)
    return group


DEFAULT_SECURITY_GROUP: Final = Kind(
    noun="Default Security Group",
    made="GroupId",
    adopt=_default_group,
    look=_first("DescribeSecurityGroups", "GroupIds", "SecurityGroups"),
    gone=_GROUP_GONE,
    carried=frozenset({"revokeRulesOnDelete"}),
    told={"ingress": "IpPermissions", "egress": "IpPermissionsEgress"},
    outputs={"description": "Description", "name": "GroupName", "ownerId": "OwnerId"},
    arn="ec2:security-group/{id}",
    changes=(_revoked("Ingress", "vpcId", "ingress"), _revoked("Egress", "vpcId", "egress")),
    tagging=_TAGGING,
    removal=Removal(),  # AWS does not let it go before its VPC
)


def _rule(given: Given) -> dict[str, Any]:
    """Return a rule as EC2 takes a changed one."""
    members = {
        "cidrIpv4": "CidrIpv4",
        "cidrIpv6": "CidrIpv6",
        "description": "Description",
        "ipProtocol": "IpProtocol",
        "prefixListId": "PrefixListId",
        "referencedSecurityGroupId": "ReferencedGroupId",
    }
    rule: dict[str, Any] = {member: str(given.new[name]) for name, member in members.items() if name in given.new}
    ports = {"fromPort": "FromPort", "toPort": "ToPort"}
    return rule | {member: int(given.new[name]) for name, member in ports.items() if name in given.new}


def _changed_rule(given: Given) -> Params:
    rule = {"SecurityGroupRuleId": given.keys["id"], "SecurityGroupRule": _rule(given)}
    return {"GroupId": given.keys["securityGroupId"], "SecurityGroupRules": [rule]}


def _rules(direction: str) -> Kind:
    return Kind(
        noun=f"VPC Security Group {direction} Rule",
        made="SecurityGroupRules[0].SecurityGroupRuleId",
        look=_first("DescribeSecurityGroupRules", "SecurityGroupRuleIds", "SecurityGroupRules"),
        gone=frozenset({"InvalidSecurityGroupRuleId.NotFound", "InvalidGroup.NotFound", "InvalidPermission.NotFound"}),
        told={
            "securityGroupId": "GroupId",
            "referencedSecurityGroupId": "ReferencedGroupInfo.GroupId",
            # A protocol without ports has -1 for both.
            "fromPort": "[FromPort] | [?@ != `-1`] | [0]",
            "toPort": "[ToPort] | [?@ != `-1`] | [0]",
        },
        outputs={"securityGroupRuleId": "SecurityGroupRuleId"},
        arn="ec2:security-group-rule/{id}",
        changes=(
            Change(
                inputs=tuple(_RULE_INPUTS),
                request=Request("ec2", "ModifySecurityGroupRules", inside=None),
                build=_changed_rule,
            ),
        ),
        tagging=_TAGGING,
        tag_type="security-group-rule",
        removal=Removal(
            (
                (
                    "ec2",
                    f"RevokeSecurityGroup{direction}",
                    {"GroupId": "{securityGroupId}", "SecurityGroupRuleIds": ["{id}"]},
                ),
            )
        ),
    )


_RULE_INPUTS: Final = (
    "cidrIpv4",
    "cidrIpv6",
    "description",
    "fromPort",
    "ipProtocol",
    "prefixListId",
    "referencedSecurityGroupId",
    "toPort",
)

# --- Machines --------------------------------------------------------------------------------------------------------

_DATA: Final = (
    "blockDeviceMappings",
    "description",
    "disableApiStop",
    "disableApiTermination",
    "ebsOptimized",
    "imageId",
    "instanceType",
    "keyName",
    "metadataOptions",
    "monitoring",
    "networkInterfaces",
    "placement",
    "tagSpecifications",
    "userData",
    "vpcSecurityGroupIds",
)


def _next_version(given: Given) -> Params:
    type_ = "aws:ec2/launchTemplate:LaunchTemplate"
    whole = members_of(type_, OPERATIONS[type_][0], {name: given.new[name] for name in _DATA if name in given.new})
    return {name: whole.get(name) for name in ("LaunchTemplateData", "VersionDescription")}


def _default_version(given: Given) -> Params | None:
    """Return the version that is the default from now on: the newest, if the program says so."""
    if not given.new.get("updateDefaultVersion"):
        fixed = given.new.get("defaultVersion")
        return {"DefaultVersion": str(int(fixed))} if fixed else None
    found = given.aws.call("ec2", "DescribeLaunchTemplates", LaunchTemplateIds=[given.keys["id"]])
    return {"DefaultVersion": str(found["LaunchTemplates"][0]["LatestVersionNumber"])}


LAUNCH_TEMPLATE: Final = Kind(
    noun="EC2 Launch Template",
    made="LaunchTemplate.LaunchTemplateId",
    keys={"LaunchTemplateId": "{id}"},
    look=_first("DescribeLaunchTemplates", "LaunchTemplateIds", "LaunchTemplates"),
    more={
        "newest": DescribeCall(
            "ec2",
            "DescribeLaunchTemplateVersions",
            {"LaunchTemplateId": "{id}", "Versions": ["$Latest"]},
            "LaunchTemplateVersions[0]",
        ),
    },
    gone=frozenset({"InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.NotFoundException"}),
    told={
        "name": "LaunchTemplateName",
        "description": "newest.VersionDescription",
        "defaultVersion": "DefaultVersionNumber",
        "vpcSecurityGroupIds": "newest.LaunchTemplateData.SecurityGroupIds",
        **{
            name: f"newest.LaunchTemplateData.{name[0].upper()}{name[1:]}"
            for name in _DATA
            if name not in ("description", "tagSpecifications", "vpcSecurityGroupIds")
        },
        # The template's own tags are no tags of what starts from it, whatever the server says.
        "tagSpecifications": "newest.LaunchTemplateData.TagSpecifications[?ResourceType != 'launch-template']",
    },
    carried=frozenset({"updateDefaultVersion", "defaultVersion"}),
    filled=frozenset({"defaultVersion", "name", "metadataOptions"}),
    outputs={"latestVersion": "LatestVersionNumber"},
    arn="ec2:launch-template/{id}",
    changes=(
        Change(inputs=_DATA, request=Request("ec2", "CreateLaunchTemplateVersion", inside=None), build=_next_version),
        Change(
            inputs=(*_DATA, "defaultVersion", "updateDefaultVersion"),
            request=Request("ec2", "ModifyLaunchTemplate", inside=None),
            build=_default_version,
        ),
    ),
    tagging=_TAGGING,
    tag_type="launch-template",
    removal=Removal((("ec2", "DeleteLaunchTemplate", {"LaunchTemplateId": "{id}"}),)),
)

KINDS: Final = {
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup": DEFAULT_SECURITY_GROUP,
    "aws:ec2/eip:Eip": ADDRESS,
    "aws:ec2/flowLog:FlowLog": FLOW_LOG,
    "aws:ec2/internetGateway:InternetGateway": INTERNET_GATEWAY,
    "aws:ec2/launchTemplate:LaunchTemplate": LAUNCH_TEMPLATE,
    "aws:ec2/natGateway:NatGateway": NAT_GATEWAY,
    "aws:ec2/route:Route": ROUTE,
    "aws:ec2/routeTable:RouteTable": ROUTE_TABLE,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": ROUTE_TABLE_ASSOCIATION,
    "aws:ec2/securityGroup:SecurityGroup": SECURITY_GROUP,
    "aws:ec2/subnet:Subnet": SUBNET,
    "aws:ec2/vpc:Vpc": VPC,
    "aws:ec2/vpcEndpoint:VpcEndpoint": ENDPOINT,
    "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule": _rules("Egress"),
    "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule": _rules("Ingress"),
}
"""By type token."""
