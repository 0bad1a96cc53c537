from typing import Any

import pytest

from emulators.core.faults import StuckRule
from support.aks_account import LOCATION, Account, unique

STANDARD = {"location": LOCATION, "sku": {"name": "Standard"}}


def address(own: Account) -> str:
    body = {**STANDARD, "properties": {"publicIPAllocationMethod": "Static"}}
    return str(own.put(own.network("publicIPAddresses"), body).body["id"])


def gateway(own: Account, address: str) -> str:
    body = {**STANDARD, "properties": {"publicIpAddresses": [{"id": address}]}}
    return str(own.put(own.network("natGateways"), body).body["id"])


def security_group(own: Account) -> str:
    return str(own.put(own.network("networkSecurityGroups"), {"location": LOCATION}).body["id"])


def subnet_id(own: Account) -> str:
    return f"{own.subnet.rpartition('/')[0]}/{unique('subnet')}"


def test_all_that_a_subnet_refers_to_tells_of_it(own: Account) -> None:
    ip, group = address(own), security_group(own)
    nat, subnet = gateway(own, ip), subnet_id(own)
    refers = {"natGateway": {"id": nat}, "networkSecurityGroup": {"id": group}}
    own.put(subnet, {"properties": {"addressPrefix": "10.1.64.0/24", **refers}})
    assert own.properties(nat)["subnets"] == [{"id": subnet}]
    assert own.properties(group)["subnets"] == [{"id": subnet}]
    network = own.properties(subnet.rpartition("/subnets/")[0])
    assert [each["name"] for each in network["subnets"]] == ["nodes", subnet.rpartition("/")[2]]
    assert network["subnets"][1]["properties"]["natGateway"] == {"id": nat}
    assert own.properties(ip)["ipAddress"].startswith("203.0.113.")


def test_what_is_in_use_stays(own: Account) -> None:
    ip, group = address(own), security_group(own)
    nat, subnet = gateway(own, ip), subnet_id(own)
    refers = {"natGateway": {"id": nat}, "networkSecurityGroup": {"id": group}}
    own.put(subnet, {"properties": {"addressPrefix": "10.1.64.0/24", **refers}})
    for used, code in (
        (ip, "PublicIPAddressCannotBeDeleted"),
        (nat, "InUseNatGatewayCannotBeDeleted"),
        (group, "InUseNetworkSecurityGroupCannotBeDeleted"),
    ):
        assert own.refused("DELETE", used).code == code
    for free in (subnet, nat, ip, group):
        own.delete(free)
        assert own.ask("GET", free).status == 404


def test_a_subnet_with_nodes_or_interfaces_stays(own: Account) -> None:
    cluster = own.cluster()
    network = own.subnet.rpartition("/subnets/")[0]
    for id_ in (own.subnet, network):
        told = own.refused("DELETE", id_)
        assert (told.status, told.code) == (400, "InUseSubnetCannotBeDeleted")
    wider = own.refused("PUT", own.subnet, {"properties": {"addressPrefix": "10.1.0.0/19"}})
    words = "IpPrefix 10.1.0.0/20 on Subnet nodes has active allocations and cannot be deleted."
    assert (wider.status, wider.code, wider.message) == (400, "InUsePrefixCannotBeDeleted", words)
    own.put(own.subnet, {"properties": {"addressPrefixes": ["10.1.0.0/20", "10.1.32.0/20"]}})
    own.delete(cluster)
    left = own.az.leave_network_interface(own.subnet)
    assert left in own.refused("DELETE", own.subnet).message
    own.az.remove_network_interface(left)
    own.delete(own.subnet)


def test_what_is_not_there_is_not_referred_to(own: Account) -> None:
    gone = own.network("natGateways", "gone")
    body = {"properties": {"addressPrefix": "10.1.64.0/24", "natGateway": {"id": gone}}}
    told = own.refused("PUT", subnet_id(own), body)
    assert (told.status, told.code, gone in told.message) == (400, "InvalidResourceReference", True)


@pytest.mark.parametrize(
    ("prefix", "code"),
    [
        ("10.2.0.0/24", "NetcfgInvalidSubnet"),
        ("10.1.1.0/24", "NetcfgSubnetRangesOverlap"),
        ("10.1.64.1/24", "InvalidAddressPrefixFormat"),
        (None, "InvalidRequestFormat"),
    ],
)
def test_a_subnet_lies_in_its_network_beside_the_others(own: Account, prefix: str | None, code: str) -> None:
    assert own.refused("PUT", subnet_id(own), {"properties": {"addressPrefix": prefix}}).code == code


def test_a_network_takes_one_change_at_a_time(own: Account) -> None:
    own.az.set_faults(StuckRule(operation="Microsoft.Network/virtualNetworks/subnets/write", times=1))
    first, second = subnet_id(own), subnet_id(own)
    own.put(first, {"properties": {"addressPrefix": "10.1.64.0/24"}})
    told = own.refused("PUT", second, {"properties": {"addressPrefix": "10.1.65.0/24"}})
    assert (told.status, told.code) == (409, "AnotherOperationInProgress")
    assert own.refused("DELETE", first).code == told.code
    assert own.refused("DELETE", first.rpartition("/subnets/")[0]).code == told.code


def test_a_write_of_a_network_lets_its_subnets_be(own: Account) -> None:
    network = own.subnet.rpartition("/subnets/")[0]
    space = {"addressSpace": {"addressPrefixes": ["10.1.0.0/16", "10.2.0.0/16"]}}
    own.put(network, {"location": LOCATION, "properties": space})
    assert own.get(own.subnet)["name"] == "nodes"
    there = own.properties(network)["subnets"]
    own.put(network, {"location": LOCATION, "properties": {**space, "subnets": there}})
    assert own.properties(network)["subnets"] == there
    fewer = {"location": LOCATION, "properties": {**space, "subnets": []}}
    assert own.refused("PUT", network, fewer).code == "NotImplemented"


@pytest.mark.parametrize(
    ("kind", "properties", "code"),
    [
        ("publicIPAddresses", {"publicIPAllocationMethod": "Dynamic"}, "PublicIPAllocationMethodNotSupported"),
        ("publicIPAddresses", {"publicIPAllocationMethod": "Fixed"}, "InvalidRequestContent"),
        ("networkSecurityGroups", {"rules": []}, "InvalidRequestContent"),
        ("virtualNetworks", {}, "InvalidRequestFormat"),
        ("virtualNetworks", {"addressSpace": {"addressPrefixes": ["home"]}}, "InvalidAddressPrefixFormat"),
    ],
)
def test_what_cannot_be_is_refused(own: Account, kind: str, properties: dict[str, Any], code: str) -> None:
    body = {"location": LOCATION, "properties": properties}
    body = {**body, "sku": {"name": "Standard"}} if kind == "publicIPAddresses" else body
    assert own.refused("PUT", own.network(kind), body).code == code


def test_a_gateway_takes_no_basic_address(own: Account) -> None:
    body = {"location": LOCATION, "properties": {"publicIPAllocationMethod": "Dynamic"}}
    ip = str(own.put(own.network("publicIPAddresses"), body).body["id"])
    given = {**STANDARD, "properties": {"publicIpAddresses": [{"id": ip}]}}
    told = own.refused("PUT", own.network("natGateways"), given)
    assert told.code == "NatGatewayPublicIpMustBeStandard"


def test_a_network_that_is_stuck_can_be_removed_with_its_group(own: Account) -> None:
    own.az.set_faults(StuckRule(operation="Microsoft.Network/virtualNetworks/subnets/write"))
    subnet = subnet_id(own)
    own.put(subnet, {"properties": {"addressPrefix": "10.1.64.0/24"}})
    assert own.state(subnet) == "Creating"
    own.delete(own.group)
    assert own.ask("GET", subnet).code == "ResourceGroupNotFound"
