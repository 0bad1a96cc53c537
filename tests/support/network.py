"""What network policies of networking.k8s.io/v1 allow, as the API describes it.

https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/. A connection between pods
needs both sides: egress of the source and ingress of the destination. An ``ipBlock`` is for addresses outside the
cluster, so it is compared with ``Address`` and never with a pod.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any


@dataclass(frozen=True)
class Pod:
    """A pod, with the labels of its namespace; the API server gives each namespace its name as a label."""

    namespace: str
    labels: Mapping[str, str] = field(default_factory=dict)
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    ports: Mapping[str, int] = field(default_factory=dict)
    """Its container ports by name."""

    @property
    def labels_of_its_namespace(self) -> dict[str, str]:
        return {"kubernetes.io/metadata.name": self.namespace, **self.namespace_labels}


@dataclass(frozen=True)
class Address:
    """An address outside the cluster."""

    ip: str


@dataclass(frozen=True)
class Connection:
    """What is asked of the policies."""

    source: Pod | Address
    destination: Pod | Address
    port: int
    protocol: str = "TCP"


def allows(policies: Iterable[Mapping[str, Any]], connection: Connection) -> bool:
    """Return whether policies, as objects, let a connection through."""
    policies = list(policies)
    return _one_way(policies, connection, "Egress") and _one_way(policies, connection, "Ingress")


def _one_way(policies: list[Mapping[str, Any]], connection: Connection, direction: str) -> bool:
    ours, peer = connection.source, connection.destination
    if direction == "Ingress":
        ours, peer = peer, ours
    if isinstance(ours, Address):
        return True  # policies hold for pods
    selecting = [
        policy["spec"] for policy in policies if _selects(policy, ours) and direction in _types(policy["spec"])
    ]
    if not selecting:
        return True
    rules = (rule for spec in selecting for rule in spec.get(direction.lower()) or ())
    side = "to" if direction == "Egress" else "from"
    return any(_peers(rule.get(side), peer, ours.namespace) and _ports(rule.get("ports"), connection) for rule in rules)


def _selects(policy: Mapping[str, Any], pod: Pod) -> bool:
    own = policy["metadata"].get("namespace", "default") == pod.namespace
    return own and matches(policy["spec"].get("podSelector") or {}, pod.labels)


def _types(spec: Mapping[str, Any]) -> list[str]:
    return spec.get("policyTypes") or ["Ingress", *(["Egress"] if spec.get("egress") else [])]


def matches(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Return whether a label selector selects an object with these labels; an empty one selects every object."""
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for each in selector.get("matchExpressions") or ():
        has, value = each["key"] in labels, labels.get(each["key"])
        verdicts = {
            "In": has and value in each.get("values", ()),
            "NotIn": not has or value not in each.get("values", ()),
            "Exists": has,
            "DoesNotExist": not has,
        }
        if not verdicts[each["operator"]]:
            return False
    return True


def _peers(peers: list[Mapping[str, Any]] | None, other: Pod | Address, namespace: str) -> bool:
    return not peers or any(_is_peer(peer, other, namespace) for peer in peers)


def _is_peer(peer: Mapping[str, Any], other: Pod | Address, namespace: str) -> bool:
    if "ipBlock" in peer:
        return isinstance(other, Address) and _in_block(peer["ipBlock"], other.ip)
    if isinstance(other, Address):
        return False
    if "namespaceSelector" in peer:
        is_there = matches(peer["namespaceSelector"], other.labels_of_its_namespace)
    else:
        is_there = other.namespace == namespace
    return is_there and matches(peer.get("podSelector") or {}, other.labels)


def _in_block(block: Mapping[str, Any], ip: str) -> bool:
    address = ip_address(ip)
    inside = address in ip_network(block["cidr"])
    return inside and not any(address in ip_network(each) for each in block.get("except") or ())


def _ports(ports: list[Mapping[str, Any]] | None, connection: Connection) -> bool:
    return not ports or any(_is_port(port, connection) for port in ports)


def _is_port(rule: Mapping[str, Any], connection: Connection) -> bool:
    if rule.get("protocol", "TCP") != connection.protocol:
        return False
    first = rule.get("port")
    if first is None:
        return True
    if isinstance(first, str):  # a name of the destination's port, for egress as for ingress
        named = connection.destination.ports if isinstance(connection.destination, Pod) else {}
        return named.get(first) == connection.port
    return int(first) <= connection.port <= int(rule.get("endPort", first))
