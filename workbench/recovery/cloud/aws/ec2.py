"""How things of EC2 are found: by the tags of stack and cluster and ``Name``, or by what they belong to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from zlib import crc32

import jmespath

from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

GONE: Final = frozenset({"deleted", "deleting", "expired", "failed", "rejected", "shutting-down", "terminated"})
"""States, in small letters, of what EC2 still shows for a while, and what never came to be."""

MOVING: Final = frozenset({"pending"})


@dataclass(frozen=True)
class Kind:
    """How EC2 tells of one kind of things.

    Parameters
    ----------
    operation, key
        The request that lists them, and where they are in its answer.
    id_key
        Member with the id.
    delete
        How the AWS command line deletes one.
    state_key
        Where its state is. Default: it has none.
    filters
        What the request calls its filters.
    name_key
        Member with the name, where EC2 keeps one beside the tag. Default: the tag ``Name`` is all.
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
"""By the type of the resource. All get their tags in the request that makes them, so none is ever without."""


def tagged(
    account: AwsQueries, kind: Kind, tags: Mapping[str, str]
) -> Iterator[tuple[Mapping[str, Any], LookupResult]]:
    """Yield what carries all of ``tags``, as EC2 tells of it and as it is found."""
    filters = [{"Name": f"tag:{key}", "Values": [value]} for key, value in tags.items()]
    for item in account.listed("ec2", kind.operation, kind.key, **{kind.filters: filters}):
        state = str(jmespath.search(kind.state_key, item) or "") if kind.state_key else ""
        own = {tag["Key"]: tag["Value"] for tag in item.get("Tags") or item.get("TagSet") or ()}
        if state.lower() not in GONE and tags.items() <= own.items():
            yield item, LookupResult(item[kind.id_key], state, state.lower() in MOVING, own)


def by_tags(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the things of the wanted kind that have the wanted name and are of the stack."""
    kind, own = KINDS[wanted.type], account.tags
    if kind.name_key:
        return [
            LookupResult(found.id, found.state, found.is_moving, found.tags, inputs={"name": item[kind.name_key]})
            for item, found in tagged(account, kind, own)
            if wanted.is_called("name", item[kind.name_key])
        ]
    name = (wanted.inputs.get("tags") or {}).get("Name")
    return [found for _, found in tagged(account, kind, {**own, "Name": name})] if name else []


def default_security_group(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the group that EC2 makes with every VPC."""
    filters = _filters({"vpc-id": wanted.inputs["vpcId"], "group-name": "default"})
    groups = account.listed("ec2", "describe_security_groups", "SecurityGroups", Filters=filters)
    return [LookupResult(group["GroupId"]) for group in groups]


def route(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the route to the wanted destination; its id is a function of table and destination.

    Source: hashicorp/terraform-provider-aws, internal/service/ec2/vpc_route.go, ``RouteCreateID``.
    """
    table, destination = wanted.inputs["routeTableId"], wanted.inputs["destinationCidrBlock"]
    routes = account.listed("ec2", "describe_route_tables", "RouteTables[].Routes[]", RouteTableIds=[table])
    identifier = f"r-{table}{crc32(destination.encode())}"
    return [LookupResult(identifier) for each in routes if each.get("DestinationCidrBlock") == destination]


def route_table_association(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the bond between the wanted table and the wanted subnet."""
    table, subnet = wanted.inputs["routeTableId"], wanted.inputs["subnetId"]
    bonds = account.listed("ec2", "describe_route_tables", "RouteTables[].Associations[]", RouteTableIds=[table])
    return [LookupResult(bond["RouteTableAssociationId"]) for bond in bonds if bond.get("SubnetId") == subnet]


def security_group_rule(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the rules of the wanted group that say the same: EC2 allows one. Its tags come after it."""
    filters = _filters({"group-id": wanted.inputs["securityGroupId"]})
    rules = account.listed("ec2", "describe_security_group_rules", "SecurityGroupRules", Filters=filters)
    return [LookupResult(rule["SecurityGroupRuleId"]) for rule in rules if _says_the_same(rule, wanted)]


def _says_the_same(rule: Mapping[str, Any], wanted: LookupQuery) -> bool:
    inputs = wanted.inputs
    source = rule.get("ReferencedGroupInfo") or {}
    said = {
        "ipProtocol": rule.get("IpProtocol"),
        "cidrIpv4": rule.get("CidrIpv4"),
        "cidrIpv6": rule.get("CidrIpv6"),
        "prefixListId": rule.get("PrefixListId"),
        "referencedSecurityGroupId": source.get("GroupId"),
    }
    ports = (rule.get("FromPort", -1), rule.get("ToPort", -1))
    return (
        rule.get("IsEgress", False) is wanted.type.endswith("EgressRule")
        and all((inputs.get(key) or None) == (value or None) for key, value in said.items())
        and tuple(int(inputs.get(key, -1)) for key in ("fromPort", "toPort")) == ports
    )


def _filters(values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"Name": name, "Values": [value]} for name, value in values.items()]
