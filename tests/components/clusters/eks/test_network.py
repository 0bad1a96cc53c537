from ipaddress import IPv4Network

from hypothesis import given
from hypothesis import strategies as st

from components.clusters.eks.addresses import address_plan
from components.clusters.eks.endpoints import INTERFACE_SERVICES
from support.eks import CLUSTER, EXISTING, NODE_GROUP, build, built

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
NAT = "aws:ec2/natGateway:NatGateway"
ROUTE = "aws:ec2/route:Route"
ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"


@given(
    st.integers(16, 20).flatmap(lambda p: st.integers(0, 255).map(lambda i: IPv4Network((10 << 24 | i << 16, p)))),
    st.lists(st.sampled_from("abcdef"), min_size=2, max_size=3, unique=True),
)
def test_subnets_lie_in_the_vpc_and_never_overlap(vpc: IPv4Network, zones: list[str]) -> None:
    plan = address_plan(vpc, zones)
    subnets = [IPv4Network(text) for text in (*plan.private.values(), *plan.public.values())]
    assert all(subnet.subnet_of(vpc) for subnet in subnets)
    assert not any(a.overlaps(b) for i, a in enumerate(subnets) for b in subnets[i + 1 :])
    assert set(plan.private) == set(plan.public) == set(zones)
    assert plan == address_plan(vpc, list(reversed(zones)))


def test_each_zone_has_a_private_and_a_public_subnet_and_no_machine_gets_a_public_address() -> None:
    subnets = built().of_type(SUBNET)
    assert {(s["availabilityZone"], "private" in name) for name, s in subnets.items()} == {
        (f"eu-west-1{zone}", private) for zone in "abc" for private in (True, False)
    }
    assert {s["mapPublicIpOnLaunch"] for s in subnets.values()} == {False}


def test_cluster_and_nodes_live_in_private_subnets_only() -> None:
    private = {f"test-network-private-{zone}-id" for zone in "abc"}
    assert set(built().of_type(CLUSTER)["test-cluster"]["vpcConfig"]["subnetIds"]) == private
    for group in built().of_type(NODE_GROUP).values():
        assert set(group["subnetIds"]) <= private


def test_production_loses_one_zone_only_with_one_gateway() -> None:
    routes = built("prod").of_type(ROUTE)
    assert {z: routes[f"test-network-private-{z}"]["natGatewayId"] for z in "abc"} == {
        z: f"test-network-nat-{z}-id" for z in "abc"
    }


def test_development_pays_for_one_gateway() -> None:
    assert set(built().of_type(NAT)) == {"test-network-nat-a"}
    routes = built().of_type(ROUTE)
    assert {routes[f"test-network-private-{z}"]["natGatewayId"] for z in "abc"} == {"test-network-nat-a-id"}


def test_only_public_subnets_have_a_route_to_the_internet_gateway() -> None:
    routes = built("prod").of_type(ROUTE)
    assert [name for name, route in routes.items() if route.get("gatewayId")] == ["test-network-public"]
    tables = built("prod").of_type("aws:ec2/routeTableAssociation:RouteTableAssociation")
    public = {name for name, t in tables.items() if t["routeTableId"] == "test-network-public-id"}
    assert public == {f"test-network-public-{zone}" for zone in "abc"}


def test_a_private_api_brings_private_ways_to_aws() -> None:
    endpoints = built("prod").of_type(ENDPOINT)
    interfaces = {e["serviceName"] for e in endpoints.values() if e["vpcEndpointType"] == "Interface"}
    assert interfaces == {f"com.amazonaws.eu-west-1.{service}" for service in INTERFACE_SERVICES}
    rules = built("prod").of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    assert [(r["cidrIpv4"], r["fromPort"], r["toPort"]) for r in rules.values()] == [("10.20.0.0/16", 443, 443)]


def test_a_public_api_has_the_free_gateway_to_s3_only() -> None:
    endpoints = build({"cluster.publicAccessCidrs": ["203.0.113.0/24"]}).of_type(ENDPOINT)
    assert [(e["serviceName"], e["vpcEndpointType"]) for e in endpoints.values()] == [
        ("com.amazonaws.eu-west-1.s3", "Gateway")
    ]
    tables = {f"test-network-{name}-id" for name in ("public", "private-a", "private-b", "private-c")}
    assert set(next(iter(endpoints.values()))["routeTableIds"]) == tables


def test_production_keeps_flow_logs_and_protects_the_vpc() -> None:
    flow = built("prod").of_type("aws:ec2/flowLog:FlowLog")["test-network-flow"]
    assert (flow["trafficType"], flow["vpcId"]) == ("ALL", "test-network-vpc-id")
    assert built("prod").options[VPC, "test-network-vpc"].protect
    assert not built().of_type("aws:ec2/flowLog:FlowLog")
    assert not built().options[VPC, "test-network-vpc"].protect


def test_the_default_security_group_lets_nothing_through() -> None:
    (group,) = built().of_type("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup").values()
    assert (group["ingress"], group["egress"]) == ([], [])


def test_nothing_is_made_in_an_existing_network() -> None:
    recorder = build({"cluster.network": EXISTING, "environment": "prod"})
    made = {r.type for r in recorder.resources if r.type.startswith(("aws:ec2", "aws:vpc"))}
    assert made == {"aws:ec2/launchTemplate:LaunchTemplate"}
    subnets = EXISTING["nodeSubnetIds"]
    assert set(recorder.of_type(CLUSTER)["test-cluster"]["vpcConfig"]["subnetIds"]) == set(subnets.values())
    assert recorder.of_type(NODE_GROUP)["test-jupyter-b"]["subnetIds"] == [subnets["b"]]
