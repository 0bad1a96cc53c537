from typing import Any

import pytest

from support.aks import build
from support.aks_account import LOCATION, Account


def rule(priority: int, access: str = "Allow", **changes: Any) -> dict[str, Any]:
    """Return a rule about port 443 from anywhere, with changes."""
    plain: dict[str, Any] = {"protocol": "Tcp", "destinationPortRange": "443", "sourceAddressPrefix": "Internet"}
    place = {"sourcePortRange": "*", "direction": "Inbound", "destinationAddressPrefix": "*"}
    plain |= {**place, "priority": priority, "access": access}
    return {"name": f"rule{priority}", "properties": {**plain, **changes}}


def guarded(own: Account, rules: list[dict[str, Any]]) -> str:
    """Give the subnet of the nodes a group of its own and return the subnet."""
    group = own.network("networkSecurityGroups")
    own.put(group, {"location": LOCATION, "properties": {"securityRules": rules}})
    prefix = own.properties(own.subnet)["addressPrefix"]
    own.put(own.subnet, {"properties": {"addressPrefix": prefix, "networkSecurityGroup": {"id": group}}})
    return own.subnet


def test_without_a_group_of_its_own_a_subnet_is_open_for_balancers(own: Account) -> None:
    assert own.az.lets_in(own.subnet, 443) is True


@pytest.mark.parametrize(
    ("rules", "is_open"),
    [
        ([], False),
        ([rule(100)], True),
        ([rule(100, direction="Outbound")], False),
        ([rule(100, protocol="Udp")], False),
        ([rule(100, destinationPortRange="80")], False),
        ([rule(100, destinationPortRange="400-500")], True),
        ([rule(100, destinationPortRange=None, destinationPortRanges=["80", "443"])], True),
        ([rule(100, sourceAddressPrefix="203.0.113.0/24")], False),
        ([rule(100, sourceAddressPrefix="198.51.100.0/24")], True),
        ([rule(100, sourceAddressPrefix=None, sourceAddressPrefixes=["198.51.100.1"])], True),
        ([rule(100, sourceAddressPrefix="AzureLoadBalancer")], False),
        ([rule(200), rule(100, "Deny")], False),
        ([rule(100), rule(200, "Deny")], True),
    ],
)
def test_a_subnet_is_as_open_as_its_group_says(own: Account, rules: list[dict[str, Any]], is_open: bool) -> None:
    assert own.az.lets_in(guarded(own, rules), 443) is is_open


@pytest.mark.parametrize("ranges", [["198.51.100.0/24"], ["0.0.0.0/0"], []])
def test_the_programs_group_lets_ranges_reach_ingress_and_nothing_else(own: Account, ranges: list[str]) -> None:
    recorded = build({"cluster.network.ingressRanges": ranges}).of_type("azure-native:network:NetworkSecurityGroup")
    rules = []
    for declared in recorded["test-network-nodes"]["securityRules"]:
        inputs = {key: int(value) if isinstance(value, float) else value for key, value in declared.items()}
        rules.append({"name": inputs.pop("name"), "properties": inputs})
    subnet = guarded(own, rules)
    opened = {port for port in (22, 80, 443, 30080) if own.az.lets_in(subnet, port)}
    assert opened == ({80, 443} if ranges else set())
    assert own.az.lets_in(subnet, 443, source="192.0.2.1") is (ranges == ["0.0.0.0/0"])
