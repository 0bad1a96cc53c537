"""VPC, subnets, gateways, routes and addresses."""

import zlib
from collections.abc import Mapping
from typing import Any, Final

from emulators.aws.resources.ec2.shared import AVAILABLE, TAGGING, first
from emulators.aws.resources.kinds import (
    Change,
    DescribeCall,
    Given,
    Kind,
    Minutes,
    Params,
    Removal,
    State,
    if_given,
)
from workbench.offline.aws.operations import Request


def _attribute(name: str) -> DescribeCall:
    """Return the call that describes one attribute of a VPC; EC2 returns one at a time."""
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
    look=first("DescribeVpcs", "VpcIds", "Vpcs"),
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
    outputs={
        "defaultNetworkAclId": "defaultNetworkAclId",
        "defaultRouteTableId": "mainRouteTableId",
        "defaultSecurityGroupId": "defaultSecurityGroupId",
        "dhcpOptionsId": "DhcpOptionsId",
        "mainRouteTableId": "mainRouteTableId",
        "ownerId": "OwnerId",
    },
    arn="ec2:vpc/{id}",
    state=AVAILABLE,
    minutes=Minutes(create=5, update=5, delete=5),
    changes=(_set("enableDnsSupport", "EnableDnsSupport"), _set("enableDnsHostnames", "EnableDnsHostnames")),
    tagging=TAGGING,
    tag_type="vpc",
    removal=Removal((("ec2", "DeleteVpc", {"VpcId": "{id}"}),)),
)

CIDR_BLOCK_ASSOCIATION: Final = Kind(
    noun="EC2 VPC IPv4 CIDR Block Association",
    made="CidrBlockAssociation.AssociationId",
    keys={"AssociationId": "{id}"},
    look=DescribeCall(
        "ec2",
        "DescribeVpcs",
        {},
        "Vpcs[].CidrBlockAssociationSet[] | [?AssociationId=='{id}'] | [0]",
        shape="Vpcs.CidrBlockAssociationSet",
    ),
    more={
        "vpc": DescribeCall(
            "ec2", "DescribeVpcs", {}, "Vpcs[?CidrBlockAssociationSet[?AssociationId=='{id}']] | [0].VpcId"
        )
    },
    gone=frozenset({"InvalidVpcCidrBlockAssociationID.NotFound"}),
    told={"vpcId": "vpc"},
    state=State(
        "CidrBlockState.State",
        "associated",
        frozenset({"associating"}),
        gone=frozenset({"disassociating", "disassociated"}),
    ),
    minutes=Minutes(create=10, delete=10),
    removal=Removal((("ec2", "DisassociateVpcCidrBlock", {"AssociationId": "{id}"}),)),
)

SUBNET: Final = Kind(
    noun="EC2 Subnet",
    made="Subnet.SubnetId",
    keys={"SubnetId": "{id}"},
    look=first("DescribeSubnets", "SubnetIds", "Subnets"),
    gone=frozenset({"InvalidSubnetID.NotFound"}),
    outputs={"arn": "SubnetArn", "ownerId": "OwnerId"},
    state=AVAILABLE,
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
    tagging=TAGGING,
    tag_type="subnet",
    removal=Removal((("ec2", "DeleteSubnet", {"SubnetId": "{id}"}),)),
)


def _detach(given: Given) -> Params | None:
    return {"VpcId": given.old["vpcId"]} if given.old.get("vpcId") else None


INTERNET_GATEWAY: Final = Kind(
    noun="EC2 Internet Gateway",
    made="InternetGateway.InternetGatewayId",
    keys={"InternetGatewayId": "{id}"},
    look=first("DescribeInternetGateways", "InternetGatewayIds", "InternetGateways"),
    gone=frozenset({"InvalidInternetGatewayID.NotFound", "Gateway.NotAttached"}),
    told={"vpcId": "Attachments[0].VpcId"},
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
    tagging=TAGGING,
    tag_type="internet-gateway",
    removal=Removal(
        (
            ("ec2", "DetachInternetGateway", {"InternetGatewayId": "{id}", "VpcId": "{vpcId}"}),
            ("ec2", "DeleteInternetGateway", {"InternetGatewayId": "{id}"}),
        ),
        needs={"DetachInternetGateway": "vpcId"},
    ),
)

ROUTE_TABLE: Final = Kind(
    noun="EC2 Route Table",
    made="RouteTable.RouteTableId",
    look=first("DescribeRouteTables", "RouteTableIds", "RouteTables"),
    gone=frozenset({"InvalidRouteTableID.NotFound"}),
    # Routes are resources of their own here, and come and go after the table.
    untold=frozenset({"routes", "propagatingVgws"}),
    outputs={"ownerId": "OwnerId"},
    arn="ec2:route-table/{id}",
    minutes=Minutes(create=5, update=2, delete=5),
    tagging=TAGGING,
    tag_type="route-table",
    removal=Removal((("ec2", "DeleteRouteTable", {"RouteTableId": "{id}"}),)),
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
    look=first("DescribeAddresses", "AllocationIds", "Addresses"),
    gone=frozenset({"InvalidAllocationID.NotFound", "InvalidAddress.NotFound"}),
    outputs={
        "allocationId": "AllocationId",
        "associationId": "AssociationId",
        "privateIp": "PrivateIpAddress",
        "publicIp": "PublicIp",
    },
    arn="ec2:elastic-ip/{id}",
    minutes=Minutes(create=15, update=5, delete=3),
    tagging=TAGGING,
    tag_type="elastic-ip",
    removal=Removal((("ec2", "ReleaseAddress", {"AllocationId": "{id}"}),)),
)

NAT_GATEWAY: Final = Kind(
    noun="EC2 NAT Gateway",
    made="NatGateway.NatGatewayId",
    look=first("DescribeNatGateways", "NatGatewayIds", "NatGateways"),
    gone=frozenset({"NatGatewayNotFound", "InvalidNatGatewayID.NotFound"}),
    told={
        "allocationId": "NatGatewayAddresses[0].AllocationId",
        "privateIp": "NatGatewayAddresses[0].PrivateIp",
    },
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
    tagging=TAGGING,
    tag_type="natgateway",
    removal=Removal((("ec2", "DeleteNatGateway", {"NatGatewayId": "{id}"}),)),
)

KINDS: Final = {
    "aws:ec2/eip:Eip": ADDRESS,
    "aws:ec2/internetGateway:InternetGateway": INTERNET_GATEWAY,
    "aws:ec2/natGateway:NatGateway": NAT_GATEWAY,
    "aws:ec2/route:Route": ROUTE,
    "aws:ec2/routeTable:RouteTable": ROUTE_TABLE,
    "aws:ec2/routeTableAssociation:RouteTableAssociation": ROUTE_TABLE_ASSOCIATION,
    "aws:ec2/subnet:Subnet": SUBNET,
    "aws:ec2/vpc:Vpc": VPC,
    "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation": CIDR_BLOCK_ASSOCIATION,
}
"""By type token."""
