"""Finds EC2 resources by the tags of stack and cluster and ``Name``, or by their parent."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

import jmespath

from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

GONE: Final = frozenset({"deleted", "deleting", "expired", "failed", "rejected", "shutting-down", "terminated"})
"""States, in lower case, of resources that are deleted or failed but still listed."""

MOVING: Final = frozenset({"pending"})


@dataclass(frozen=True)
class Kind:
    """How EC2 lists one kind of resource.

    Parameters
    ----------
    operation, key
        The list request, and the path of the resources in its response.
    id_key
        Field with the id.
    delete
        AWS CLI command that deletes one.
    state_key
        Path of the state. Default: it has none.
    filters
        Name of the request's filter parameter.
    name_key
        Field with the name, if EC2 has one besides the tag. Default: only the tag ``Name``.
    """

    operation: str
    key: str
    id_key: str
    delete: str
    state_key: str = ""
    filters: str = "Filters"
    name_key: str = ""


KINDS: Final[Mapping[str, Kind]] = {
    "aws:ec2/eip:Eip": Kind("describe_addresses", "Addresses", "AllocationId", "release-address --allocation-id"),
    "aws:ec2/flowLog:FlowLog": Kind(
        "describe_flow_logs", "FlowLogs", "FlowLogId", "delete-flow-logs --flow-log-ids", filters="Filter"
    ),
    "aws:ec2/internetGateway:InternetGateway": Kind(
        "describe_internet_gateways",
        "InternetGateways",
        "InternetGatewayId",
        "delete-internet-gateway --internet-gateway-id",
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": Kind(
        "describe_launch_templates",
        "LaunchTemplates",
        "LaunchTemplateId",
        "delete-launch-template --launch-template-id",
        name_key="LaunchTemplateName",
    ),
    "aws:ec2/natGateway:NatGateway": Kind(
        "describe_nat_gateways",
        "NatGateways",
        "NatGatewayId",
        "delete-nat-gateway --nat-gateway-id",
        state_key="State",
        filters="Filter",
    ),
    "aws:ec2/placementGroup:PlacementGroup": Kind(
        "describe_placement_groups",
        "PlacementGroups",
        "GroupName",
        "delete-placement-group --group-name",
        state_key="State",
        name_key="GroupName",
    ),
    "aws:ec2/routeTable:RouteTable": Kind(
        "describe_route_tables", "RouteTables", "RouteTableId", "delete-route-table --route-table-id"
    ),
    "aws:ec2/securityGroup:SecurityGroup": Kind(
        "describe_security_groups", "SecurityGroups", "GroupId", "delete-security-group --group-id"
    ),
    "aws:ec2/subnet:Subnet": Kind(
        "describe_subnets", "Subnets", "SubnetId", "delete-subnet --subnet-id", state_key="State"
    ),
    "aws:ec2/vpc:Vpc": Kind("describe_vpcs", "Vpcs", "VpcId", "delete-vpc --vpc-id", state_key="State"),
    "aws:ec2/vpcEndpoint:VpcEndpoint": Kind(
        "describe_vpc_endpoints",
        "VpcEndpoints",
        "VpcEndpointId",
        "delete-vpc-endpoints --vpc-endpoint-ids",
        state_key="State",
    ),
}
"""Listings by resource type. All are tagged by the request that creates them, so none is ever untagged."""


def tagged(
    account: AwsQueries, kind: Kind, tags: Mapping[str, str]
) -> Iterator[tuple[Mapping[str, Any], LookupResult]]:
    """Yield resources that have all of ``tags``: EC2's description and the lookup result."""
    filters = [{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()]
    for item in account.listed("ec2", kind.operation, kind.key, **{kind.filters: filters}):
        state = str(jmespath.search(kind.state_key, item) or "") if kind.state_key else ""
        own = {tag["Key"]: tag["Value"] for tag in item.get("Tags") or item.get("TagSet") or ()}
        if state.lower() not in GONE and tags.items() <= own.items():
            yield item, LookupResult(item[kind.id_key], state, state.lower() in MOVING, own)


def by_tags(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the stack's resources of the queried type and name."""
    kind, own = KINDS[query.type], account.tags
    if kind.name_key:
        return [
            LookupResult(result.id, result.state, result.is_moving, result.tags, inputs={"name": item[kind.name_key]})
            for item, result in tagged(account, kind, own)
            if query.is_called("name", item[kind.name_key])
        ]
    name = (query.inputs.get("tags") or {}).get("Name")
    return [result for _, result in tagged(account, kind, {**own, "Name": name})] if name else []


def default_security_group(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the security group that EC2 creates with every VPC."""
    filters = _filters({"vpc-id": query.inputs["vpcId"], "group-name": "default"})
    groups = account.listed("ec2", "describe_security_groups", "SecurityGroups", Filters=filters)
    return [LookupResult(group["GroupId"]) for group in groups]


def route(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the route to the queried destination; its id is derived from table and destination.

    Source: hashicorp/terraform-provider-aws, internal/service/ec2/vpc_route.go, ``RouteCreateID``.
    """
    table, destination = query.inputs["routeTableId"], query.inputs["destinationCidrBlock"]
    routes = account.listed("ec2", "describe_route_tables", "RouteTables[].Routes[]", RouteTableIds=[table])
    identifier = f"r-{table}{crc32(destination.encode())}"
    return [LookupResult(identifier) for each in routes if each.get("DestinationCidrBlock") == destination]


def route_table_association(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the association of the queried route table and subnet."""
    table, subnet = query.inputs["routeTableId"], query.inputs["subnetId"]
    bonds = account.listed("ec2", "describe_route_tables", "RouteTables[].Associations[]", RouteTableIds=[table])
    return [LookupResult(bond["RouteTableAssociationId"]) for bond in bonds if bond.get("SubnetId") == subnet]


def cidr_block(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the association of the queried block with its VPC."""
    vpc, block = query.inputs["vpcId"], query.inputs["cidrBlock"]
    bonds = account.listed("ec2", "describe_vpcs", "Vpcs[].CidrBlockAssociationSet[]", VpcIds=[vpc])
    found = ((bond, bond["CidrBlockState"]["State"]) for bond in bonds if bond["CidrBlock"] == block)
    return [
        LookupResult(bond["AssociationId"], state, state == "associating")
        for bond, state in found
        if state in ("associating", "associated")
    ]


def security_group_rule(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the group's rule with the queried content; EC2 allows only one, and tags it after creation."""
    filters = _filters({"group-id": query.inputs["securityGroupId"]})
    rules = account.listed("ec2", "describe_security_group_rules", "SecurityGroupRules", Filters=filters)
    return [LookupResult(rule["SecurityGroupRuleId"]) for rule in rules if _is_equal_rule(rule, query)]


def _is_equal_rule(rule: Mapping[str, Any], query: LookupQuery) -> bool:
    inputs = query.inputs
    source = rule.get("ReferencedGroupInfo") or {}
    live = {
        "ipProtocol": rule.get("IpProtocol"),
        "cidrIpv4": rule.get("CidrIpv4"),
        "cidrIpv6": rule.get("CidrIpv6"),
        "prefixListId": rule.get("PrefixListId"),
        "referencedSecurityGroupId": source.get("GroupId"),
    }
    ports = (rule.get("FromPort", -1), rule.get("ToPort", -1))
    return (
        rule.get("IsEgress", False) is query.type.endswith("EgressRule")
        and all((inputs.get(key) or None) == (value or None) for key, value in live.items())
        and tuple(int(inputs.get(key, -1)) for key in ("fromPort", "toPort")) == ports
    )


def _filters(values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"Name": name, "Values": [value]} for name, value in values.items()]
