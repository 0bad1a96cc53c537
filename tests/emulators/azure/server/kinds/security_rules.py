"""What a network security group lets in from the Internet.

Source: https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview: rules by priority, the first
that fits decides, and the last default rule denies. AKS opens the ports of a LoadBalancer in its own group at the nodes
and leaves that of the subnet alone: https://learn.microsoft.com/azure/aks/concepts-network-cni-overview.
"""

from collections.abc import Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Any, Final

from emulators.azure.server.ids import ArmId
from emulators.azure.server.store import Resource, Store

ANYWHERE: Final = frozenset({"*", "internet", "any"})


def lets_in(store: Store, subnet: Resource, port: int, source: str) -> bool:
    """Return whether a LoadBalancer's port in a subnet can be reached from an address of the Internet.

    Without a group of the subnet's own, AKS's at the nodes lets it in. That a rule's destination fits is assumed.
    """
    named = (subnet.properties.get("networkSecurityGroup") or {}).get("id")
    group = store.find(ArmId(named)) if named else None
    if group is None:
        return True
    rules = [each.get("properties") or {} for each in group.properties.get("securityRules") or []]
    for rule in sorted(rules, key=lambda each: int(each["priority"])):
        if _fits(rule, port, source):
            return bool(rule["access"] == "Allow")
    return False


def _fits(rule: Mapping[str, Any], port: int, source: str) -> bool:
    is_tcp = str(rule.get("protocol")).lower() in {"tcp", "*"}
    is_port = any(_has_port(each, port) for each in _all(rule, "destinationPortRange"))
    is_from = any(_has_source(each, source) for each in _all(rule, "sourceAddressPrefix"))
    return rule.get("direction") == "Inbound" and is_tcp and is_port and is_from


def _all(rule: Mapping[str, Any], name: str) -> Iterator[str]:
    """Return the values of a member that is there for one and for several."""
    plural = f"{name}es" if name.endswith("x") else f"{name}s"
    yield from rule.get(plural) or []
    if rule.get(name):
        yield rule[name]


def _has_port(given: str, port: int) -> bool:
    first, _, last = given.partition("-")
    return given == "*" or int(first) <= port <= int(last or first)


def _has_source(given: str, source: str) -> bool:
    if given.lower() in ANYWHERE:
        return True
    try:
        return ip_address(source) in ip_network(given, strict=False)
    except ValueError:
        return False  # a tag of some service of Azure's
