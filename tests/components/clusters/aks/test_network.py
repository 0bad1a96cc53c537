import pytest

from support.aks import AGENT_POOL, CLUSTER, EXISTING, NO_INTERNET, SUBNET, SUBNET_ID, Props, build, built, pools

NAT = "azure-native:network:NatGateway"
ADDRESS = "azure-native:network:PublicIPAddress"
GROUP = "azure-native:network:NetworkSecurityGroup"


def test_all_nodes_live_in_one_subnet_that_leaves_room_beside_it() -> None:
    (subnet,) = built().of_type(SUBNET).values()
    assert (subnet["subnetName"], subnet["addressPrefix"]) == ("nodes", "10.30.0.0/17")
    assert {pool["vnetSubnetID"] for pool in pools(built()).values()} == {SUBNET_ID}


def test_nodes_go_out_by_one_known_address_and_by_no_default_of_azures() -> None:
    (subnet,) = built().of_type(SUBNET).values()
    assert subnet["defaultOutboundAccess"] is False
    assert subnet["natGateway"] == {"id": "test-network-nat-id"}
    (address,) = built().of_type(ADDRESS).values()
    assert (address["publicIPAllocationMethod"], address["zones"]) == ("Static", ["1", "2", "3"])


def test_the_address_is_asked_for_in_all_zones_because_azure_makes_it_in_all() -> None:
    (address,) = build({"cluster.zones": ["1", "2"], "pools.data.size": {"min": 2, "max": 2}}).of_type(ADDRESS).values()
    assert address["zones"] == ["1", "2", "3"]


def test_an_address_from_an_earlier_release_keeps_its_zones() -> None:
    assert built().options[ADDRESS, "test-network-nat"].ignore_changes == ("zones",)


def test_a_public_api_needs_no_gateway() -> None:
    recorder = build({"cluster.authorizedRanges": ["203.0.113.0/24"]})
    assert recorder.of_type(NAT) == recorder.of_type(ADDRESS) == {}
    assert "natGateway" not in recorder.of_type(SUBNET)["test-network-nodes"]


def test_nothing_comes_in_from_outside() -> None:
    (group,) = built().of_type(GROUP).values()
    assert "securityRules" not in group
    assert built().of_type(SUBNET)["test-network-nodes"]["networkSecurityGroup"]["id"] == "test-network-nodes-id"
    assert {pool["enableNodePublicIP"] for pool in pools(built()).values()} == {False}


def test_an_empty_list_of_ingress_ranges_takes_all_rules_away() -> None:
    (group,) = build({"cluster.network.ingressRanges": []}).of_type(GROUP).values()
    assert group["securityRules"] == []


@pytest.mark.parametrize("changes", [{"cluster.network": EXISTING}, NO_INTERNET])
def test_nothing_is_made_in_an_existing_network(changes: Props) -> None:
    recorder = build({**changes, "environment": "prod"})
    assert not [r.name for r in recorder.resources if r.type.startswith("azure-native:network:")]
    assert {pool["vnetSubnetID"] for pool in pools(recorder).values()} == {EXISTING["nodeSubnetId"]}


def test_the_network_is_there_before_the_cluster_and_goes_after_it() -> None:
    for key in ((CLUSTER, "test-cluster"), (AGENT_POOL, "test-pools-workload")):
        assert {(SUBNET, "test-network-nodes"), (NAT, "test-network-nat")} <= built().needs(key)
