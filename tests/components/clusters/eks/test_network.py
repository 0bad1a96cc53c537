from support.eks import CLUSTER, EXISTING, NODE_GROUP, PODS, build, built

VPC = "aws:ec2/vpc:Vpc"
SUBNET = "aws:ec2/subnet:Subnet"
NAT = "aws:ec2/natGateway:NatGateway"
ROUTE = "aws:ec2/route:Route"


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


def test_production_keeps_flow_logs_and_protects_the_vpc() -> None:
    flow = built("prod").of_type("aws:ec2/flowLog:FlowLog")["test-network-flow"]
    assert (flow["trafficType"], flow["vpcId"]) == ("ALL", "test-network-vpc-id")
    assert built("prod").options[VPC, "test-network-vpc"].protect
    assert not built().of_type("aws:ec2/flowLog:FlowLog")
    assert not built().options[VPC, "test-network-vpc"].protect


BLOCK = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"


def test_pods_get_subnets_of_their_own_with_the_routes_of_the_nodes() -> None:
    recorder = build(PODS)
    [block] = recorder.of_type(BLOCK).values()
    assert (block["vpcId"], block["cidrBlock"]) == ("test-network-vpc-id", "100.64.0.0/16")
    subnets = {n: s for n, s in recorder.of_type(SUBNET).items() if "-pods-" in n}
    assert {name: s["cidrBlock"] for name, s in subnets.items()} == {
        "test-network-pods-a": "100.64.0.0/18",
        "test-network-pods-b": "100.64.64.0/18",
        "test-network-pods-c": "100.64.128.0/18",
    }
    for subnet in subnets.values():
        assert subnet["tags"]["kubernetes.io/role/cni"] == "1"
        assert subnet["tags"]["cni.networking.k8s.aws/cluster/research"] == "shared"
        assert "kubernetes.io/role/internal-elb" not in subnet["tags"]
    tables = recorder.of_type("aws:ec2/routeTableAssociation:RouteTableAssociation")
    for zone in "abc":
        assert tables[f"test-network-pods-{zone}"]["routeTableId"] == f"test-network-private-{zone}-id"


def test_the_range_of_pods_is_there_before_the_control_plane_looks_at_the_vpc() -> None:
    assert (BLOCK, "test-network-pods") in build(PODS).needs((CLUSTER, "test-cluster"))


def test_no_pod_gets_an_address_of_the_nodes_then_and_no_node_one_of_the_pods() -> None:
    recorder = build(PODS)
    private = {n: s for n, s in recorder.of_type(SUBNET).items() if "-private-" in n}
    assert {s["tags"]["kubernetes.io/role/cni"] for s in private.values()} == {"0"}
    for group in recorder.of_type(NODE_GROUP).values():
        assert set(group["subnetIds"]) <= {f"{name}-id" for name in private}


def test_without_a_range_of_pods_nothing_is_said_of_them() -> None:
    assert not built().of_type(BLOCK)
    assert not [s for s in built().of_type(SUBNET).values() if "kubernetes.io/role/cni" in s["tags"]]


CLOSED = {
    "cluster.network.internet": "none",
    "cluster.imageRegistries": {"registry.k8s.io": "mirror.corp.example/k8s", "nvcr.io": "mirror.corp.example/nvidia"},
}


def test_a_closed_network_has_no_way_to_the_internet_and_endpoints_of_all_services() -> None:
    recorder = build({**CLOSED, "environment": "prod"})
    for type_ in (NAT, ROUTE, "aws:ec2/eip:Eip", "aws:ec2/internetGateway:InternetGateway"):
        assert not recorder.of_type(type_), type_
    private = {f"test-network-private-{zone}" for zone in "abc"}
    assert set(recorder.of_type(SUBNET)) == private
    assert set(recorder.of_type("aws:ec2/routeTable:RouteTable")) == private
    endpoints = recorder.of_type("aws:ec2/vpcEndpoint:VpcEndpoint")
    assert set(endpoints) == set(built("prod").of_type("aws:ec2/vpcEndpoint:VpcEndpoint"))
    assert set(endpoints["test-network-endpoints-s3"]["routeTableIds"]) == {f"{name}-id" for name in private}


def test_a_closed_network_with_shared_storage_has_an_endpoint_for_its_driver() -> None:
    storage = {
        "storage": {"corpus": {"purpose": "dataset", "type": "files"}},
        "namespaces": {"mlrun": {"coreServices": True, "volumes": {"shared": {"storage": "corpus"}}}},
    }
    service = "test-network-endpoints-elasticfilesystem"
    endpoints = build({**CLOSED, **storage}).of_type("aws:ec2/vpcEndpoint:VpcEndpoint")
    assert endpoints[service]["serviceName"] == "com.amazonaws.eu-west-1.elasticfilesystem"
    assert service not in build(storage).of_type("aws:ec2/vpcEndpoint:VpcEndpoint")


def test_a_closed_network_has_the_same_private_subnets_as_an_open_one() -> None:
    closed, opened = (recorder.of_type(SUBNET) for recorder in (build(CLOSED), built()))
    assert closed == {name: subnet for name, subnet in opened.items() if "-private-" in name}


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
