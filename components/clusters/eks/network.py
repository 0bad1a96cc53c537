"""The cluster's VPC, created or existing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Final

import pulumi
from pulumi_aws.cloudwatch import LogGroup
from pulumi_aws.ec2 import (
    DefaultSecurityGroup,
    Eip,
    FlowLog,
    InternetGateway,
    NatGateway,
    Route,
    RouteTable,
    RouteTableAssociation,
    Subnet,
    Vpc,
    VpcIpv4CidrBlockAssociation,
)

from components.base import PlatformComponent
from components.clusters.eks.addresses import address_plan
from components.clusters.eks.endpoints import FILE_SYSTEMS, PrivateEndpoints, PrivateEndpointsArgs
from components.clusters.eks.identity import RoleArgs, ServiceRole
from components.contract.eks.network import CreatedNetwork, ExistingNetwork, is_closed

EVERYWHERE = "0.0.0.0/0"

POD_SUBNETS: Final = "kubernetes.io/role/cni"
"""Tag by which the CNI finds the subnets of pods: with 1, it assigns pod addresses there; with 0, it never does.

https://docs.aws.amazon.com/eks/latest/userguide/cni-subnet-selection.html
"""

POD_SUBNETS_OF: Final = "cni.networking.k8s.aws/cluster"
"""Prefix of the tag that reserves such a subnet for one cluster."""


@dataclass(frozen=True, kw_only=True)
class Network:
    """The network of a cluster."""

    vpc_id: pulumi.Input[str]
    node_subnet_ids: Mapping[str, pulumi.Input[str]]
    """The private subnet of each zone, by zone letter."""
    ready: tuple[pulumi.Resource, ...]
    """What must exist before a node can reach AWS."""
    ranges: tuple[pulumi.Resource, ...] = ()
    """Further ranges of the VPC. An existing control plane may learn them only after an hour.

    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    """


def existing_network(choices: ExistingNetwork) -> Network:
    """Return an existing network; it creates no resource, so nothing in it is changed."""
    subnets = dict(sorted(choices.node_subnet_ids.items()))
    return Network(vpc_id=choices.vpc_id, node_subnet_ids=subnets, ready=())


@dataclass(frozen=True, kw_only=True)
class CreatedVpcArgs:
    """Inputs of a network."""

    choices: CreatedNetwork
    region: str
    account_id: str
    zones: tuple[str, ...]
    cluster_name: str
    is_production: bool
    """One NAT gateway per zone instead of one in total, flow logs, and protection from deletion."""
    is_private: bool
    """VPC endpoints of the AWS services that nodes call, so that this traffic stays inside."""
    log_retention_days: int
    permissions_boundary: str | None
    pod_cidr: str | None
    """Range of pods in addition to that of the VPC; None if pods use addresses of the nodes' subnets."""
    has_file_systems: bool
    """Whether pods mount EFS, whose driver needs an endpoint."""


class CreatedVpc(PlatformComponent):
    """A VPC with a private and a public subnet in each zone.

    Nodes live in private subnets only. The public ones hold NAT gateways and the load balancers of services; a closed
    network has none. Pods with a range of their own get addresses in a third subnet of each zone, with the routes of
    the nodes' one.
    """

    network: Network

    def __init__(self, name: str, args: CreatedVpcArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:EksNetwork", name, None, opts)
        self._name, self._args = name, args
        self._vpc = Vpc(
            f"{name}-vpc",
            cidr_block=args.choices.cidr,
            # The private endpoint of the API is a name in the VPC's own DNS.
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags={"Name": args.cluster_name},
            opts=self.child(protect=args.is_production),
        )
        # Resources that name no security group get this one: it allows no traffic in or out.
        DefaultSecurityGroup(f"{name}-default", vpc_id=self._vpc.id, ingress=[], egress=[], opts=self.child())
        plan = address_plan(IPv4Network(args.choices.cidr), args.zones)
        # https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
        nodes_only = {POD_SUBNETS: "0"} if args.pod_cidr else {}
        private = self._subnets("private", plan.private, {"kubernetes.io/role/internal-elb": "1", **nodes_only})
        closed = is_closed(args.choices)
        outside: list[RouteTable] = []
        gateways: dict[str, NatGateway] = {}
        if not closed:
            public = self._subnets("public", plan.public, {"kubernetes.io/role/elb": "1"})
            outside, gateways = self._ways_out(private, public)
        inside = self._private_tables(private, gateways)
        ranges = (self._pod_range(IPv4Network(args.pod_cidr), inside),) if args.pod_cidr else ()
        PrivateEndpoints(
            f"{name}-endpoints",
            PrivateEndpointsArgs(
                vpc_id=self._vpc.id,
                cidr=args.choices.cidr,
                pod_cidr=args.pod_cidr,
                region=args.region,
                subnet_ids=[subnet.id for subnet in private.values()],
                route_table_ids=[table.id for table in (*outside, *inside.values())],
                has_interfaces=args.is_private,
                more_services=[FILE_SYSTEMS] if closed and args.has_file_systems else [],
            ),
            self.child(),
        )
        if args.is_production:
            self._flow_log()
        self.network = Network(
            vpc_id=self._vpc.id,
            node_subnet_ids={zone: subnet.id for zone, subnet in private.items()},
            ready=(self,),
            ranges=ranges,
        )
        self.register_outputs({"vpcId": self._vpc.id})

    def _pod_range(self, cidr: IPv4Network, tables: Mapping[str, RouteTable]) -> pulumi.Resource:
        """Return the range of pods in the VPC, of which each zone gets a subnet."""
        block = VpcIpv4CidrBlockAssociation(
            f"{self._name}-pods", vpc_id=self._vpc.id, cidr_block=str(cidr), opts=self.child()
        )
        tags = {POD_SUBNETS: "1", f"{POD_SUBNETS_OF}/{self._args.cluster_name}": "shared"}
        subnets = self._subnets("pods", address_plan(cidr, self._args.zones).private, tags, needed=[block])
        for zone, subnet in subnets.items():
            RouteTableAssociation(
                f"{self._name}-pods-{zone}", route_table_id=tables[zone].id, subnet_id=subnet.id, opts=self.child()
            )
        return block

    def _subnets(
        self, tier: str, cidrs: Mapping[str, str], tags: Mapping[str, str], needed: Sequence[pulumi.Resource] = ()
    ) -> dict[str, Subnet]:
        return {
            zone: Subnet(
                f"{self._name}-{tier}-{zone}",
                vpc_id=self._vpc.id,
                availability_zone=f"{self._args.region}{zone}",
                cidr_block=cidr,
                map_public_ip_on_launch=False,
                tags={"Name": f"{self._args.cluster_name}-{tier}-{zone}", **tags},
                opts=self.child(depends_on=list(needed)),
            )
            for zone, cidr in cidrs.items()
        }

    def _ways_out(
        self, private: Mapping[str, Subnet], public: Mapping[str, Subnet]
    ) -> tuple[list[RouteTable], dict[str, NatGateway]]:
        """Return the route table of the public subnets, and the NAT gateway of each private one, by zone."""
        gateway = InternetGateway(
            f"{self._name}-internet", vpc_id=self._vpc.id, tags=self._tag("internet"), opts=self.child()
        )
        outside = self._table("public", public)
        way_out = Route(
            f"{self._name}-public",
            route_table_id=outside.id,
            destination_cidr_block=EVERYWHERE,
            gateway_id=gateway.id,
            opts=self.child(),
        )
        # The loss of a zone must not cut off the others in production; in development one gateway is cheaper.
        zones = list(private) if self._args.is_production else sorted(private)[:1]
        nats = {zone: self._nat(zone, public[zone], way_out) for zone in zones}
        return [outside], {zone: nats.get(zone, nats[zones[0]]) for zone in private}

    def _private_tables(
        self, private: Mapping[str, Subnet], gateways: Mapping[str, NatGateway]
    ) -> dict[str, RouteTable]:
        tables = {zone: self._table(f"private-{zone}", {zone: subnet}) for zone, subnet in private.items()}
        for zone, gateway in gateways.items():
            Route(
                f"{self._name}-private-{zone}",
                route_table_id=tables[zone].id,
                destination_cidr_block=EVERYWHERE,
                nat_gateway_id=gateway.id,
                opts=self.child(),
            )
        return tables

    def _table(self, tier: str, subnets: Mapping[str, Subnet]) -> RouteTable:
        table = RouteTable(f"{self._name}-{tier}", vpc_id=self._vpc.id, tags=self._tag(tier), opts=self.child())
        for zone, subnet in subnets.items():
            kind = tier.partition("-")[0]
            RouteTableAssociation(
                f"{self._name}-{kind}-{zone}", route_table_id=table.id, subnet_id=subnet.id, opts=self.child()
            )
        return table

    def _nat(self, zone: str, subnet: Subnet, way_out: Route) -> NatGateway:
        name = f"{self._name}-nat-{zone}"
        address = Eip(name, domain="vpc", tags=self._tag(f"nat-{zone}"), opts=self.child())
        return NatGateway(
            name,
            allocation_id=address.id,
            subnet_id=subnet.id,
            tags=self._tag(f"nat-{zone}"),
            opts=self.child(depends_on=[way_out]),
        )

    def _flow_log(self) -> None:
        args, name = self._args, f"{self._name}-flow"
        log_group = f"/igz-clusters/{args.cluster_name}/flow"
        logs = LogGroup(
            name,
            name=log_group,
            retention_in_days=args.log_retention_days,
            opts=self.child(),
        )
        # Plain data instead of the group's output, so that a policy can judge it before the group exists.
        streams = f"arn:aws:logs:{args.region}:{args.account_id}:log-group:{log_group}:*"
        write = ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
        role = ServiceRole(
            name,
            RoleArgs(
                service="vpc-flow-logs.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": args.account_id}},
                statements=[
                    {"Effect": "Allow", "Action": write, "Resource": streams},
                    # A list action cannot be restricted to a resource.
                    {"Effect": "Allow", "Action": ["logs:DescribeLogGroups"], "Resource": "*"},
                ],
                permissions_boundary=args.permissions_boundary,
            ),
            self.child(),
        )
        FlowLog(
            name,
            vpc_id=self._vpc.id,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_destination=logs.arn,
            iam_role_arn=role.arn,
            tags=self._tag("flow"),
            opts=self.child(depends_on=[role]),
        )

    def _tag(self, part: str) -> dict[str, str]:
        return {"Name": f"{self._args.cluster_name}-{part}"}
