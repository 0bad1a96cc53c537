from components.clusters.eks.endpoints import INTERFACE_SERVICES
from support.eks import PODS, build, built

ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"


def test_a_private_api_brings_private_ways_to_aws() -> None:
    endpoints = built("prod").of_type(ENDPOINT)
    interfaces = {e["serviceName"] for e in endpoints.values() if e["vpcEndpointType"] == "Interface"}
    assert interfaces == {f"com.amazonaws.eu-west-1.{service}" for service in INTERFACE_SERVICES}
    rules = built("prod").of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    assert [(r["cidrIpv4"], r["fromPort"], r["toPort"]) for r in rules.values()] == [("10.20.0.0/16", 443, 443)]


def test_pods_with_a_range_of_their_own_use_them_too() -> None:
    recorder = build({"environment": "prod", **PODS})
    rules = recorder.of_type("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule")
    assert [(r["cidrIpv4"], r["description"]) for r in rules.values()] == [
        ("10.20.0.0/16", "HTTPS from the VPC"),
        ("100.64.0.0/16", "HTTPS from pods"),
    ]


def test_a_public_api_has_the_free_gateway_to_s3_only() -> None:
    endpoints = build({"cluster.publicAccessCidrs": ["203.0.113.0/24"]}).of_type(ENDPOINT)
    assert [(e["serviceName"], e["vpcEndpointType"]) for e in endpoints.values()] == [
        ("com.amazonaws.eu-west-1.s3", "Gateway")
    ]
    tables = {f"test-network-{name}-id" for name in ("public", "private-a", "private-b", "private-c")}
    assert set(next(iter(endpoints.values()))["routeTableIds"]) == tables
