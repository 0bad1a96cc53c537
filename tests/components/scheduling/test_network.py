"""The judge of network policies itself: the semantics of networking.k8s.io/v1."""

from typing import Any

import pytest

from support.network import Address, Connection, Pod, allows

WEB = Pod("web", {"app": "web"}, ports={"https": 8443})
DB = Pod("data", {"app": "db"}, {"tier": "data"})
OUTSIDE = Address("203.0.113.7")


def policy(namespace: str = "web", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": namespace}, "spec": {"podSelector": {}, **spec}}


def egress(*rules: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return policy(policyTypes=["Egress"], egress=list(rules), **spec)


def passes(
    destination: Pod | Address, *policies: dict[str, Any], port: int = 443, protocol: str = "TCP", source: Any = WEB
) -> bool:
    return allows(policies, Connection(source, destination, port, protocol))


def block(cidr: str, *but: str) -> dict[str, Any]:
    return {"ipBlock": {"cidr": cidr, "except": list(but)}}


def test_without_a_policy_that_selects_the_pod_everything_is_allowed() -> None:
    assert passes(OUTSIDE)
    assert passes(OUTSIDE, policy("elsewhere", policyTypes=["Egress"]))
    assert passes(OUTSIDE, egress(podSelector={"matchLabels": {"app": "other"}}))


def test_an_empty_pod_selector_selects_all_pods_of_the_namespace() -> None:
    assert not passes(OUTSIDE, egress())


def test_policies_add_up() -> None:
    assert passes(OUTSIDE, egress(), egress({"to": [block("203.0.113.0/24")]}))
    assert not passes(OUTSIDE, egress(), egress({"to": [block("198.51.100.0/24")]}))


def test_a_block_leaves_its_exceptions_out_and_another_policy_may_allow_them() -> None:
    wide = egress({"to": [block("0.0.0.0/0", "203.0.113.0/24")]})
    assert passes(Address("198.51.100.1"), wide)
    assert not passes(OUTSIDE, wide)
    assert passes(OUTSIDE, wide, egress({"to": [block("203.0.113.7/32")]}))


def test_a_block_is_no_pod_and_ipv4_is_not_ipv6() -> None:
    assert not passes(DB, egress({"to": [block("0.0.0.0/0")]}))
    assert not passes(Address("fd00::1"), egress({"to": [block("0.0.0.0/0")]}))
    assert passes(Address("fd00::1"), egress({"to": [block("fd00::/8")]}))


def test_selectors_of_one_peer_must_both_match_and_those_of_two_peers_either() -> None:
    tier, app = {"matchLabels": {"tier": "data"}}, {"matchLabels": {"app": "db"}}
    both = egress({"to": [{"namespaceSelector": tier, "podSelector": app}]})
    either = egress({"to": [{"namespaceSelector": tier}, {"podSelector": app}]})
    assert passes(DB, both)
    assert not passes(Pod("data", {"app": "x"}, {"tier": "data"}), both)
    assert not passes(Pod("other", {"app": "db"}), both)
    assert passes(Pod("data", {"app": "x"}, {"tier": "data"}), either)
    assert not passes(Pod("other", {"app": "db"}), either)  # a pod selector alone means the policy's own namespace
    assert passes(Pod("web", {"app": "db"}), either)


def test_a_namespace_has_its_name_as_a_label() -> None:
    selector = {"matchLabels": {"kubernetes.io/metadata.name": "data"}}
    assert passes(DB, egress({"to": [{"namespaceSelector": selector}]}))
    assert not passes(WEB, egress({"to": [{"namespaceSelector": selector}]}))


@pytest.mark.parametrize(
    ("expression", "selected"),
    [
        ({"key": "app", "operator": "In", "values": ["web", "x"]}, True),
        ({"key": "app", "operator": "NotIn", "values": ["web"]}, False),
        ({"key": "absent", "operator": "NotIn", "values": ["web"]}, True),
        ({"key": "app", "operator": "Exists"}, True),
        ({"key": "app", "operator": "DoesNotExist"}, False),
    ],
)
def test_expressions_select(expression: dict[str, Any], *, selected: bool) -> None:
    assert passes(OUTSIDE, egress(podSelector={"matchExpressions": [expression]})) is not selected


def test_ports_have_a_protocol_and_may_be_a_range() -> None:
    ports = egress({"ports": [{"port": 443}, {"port": 8000, "endPort": 8100, "protocol": "UDP"}]})
    assert passes(OUTSIDE, ports)
    assert not passes(OUTSIDE, ports, protocol="UDP")
    assert not passes(OUTSIDE, ports, port=80)
    assert [passes(OUTSIDE, ports, port=port, protocol="UDP") for port in (7999, 8000, 8100, 8101)] == [
        *(False, True, True, False)
    ]
    assert passes(OUTSIDE, egress({"ports": [{"protocol": "UDP"}]}), port=1, protocol="UDP")


def test_a_named_port_is_the_destinations() -> None:
    named = {"ports": [{"port": "https"}]}
    client = Pod("web", {"app": "client"})
    assert passes(WEB, egress(named), port=8443, source=client)
    assert not passes(WEB, egress(named), port=443, source=client)
    assert not passes(OUTSIDE, egress(named), port=443)
    assert passes(WEB, policy(ingress=[named]), port=8443, source=client)


def test_a_policy_without_types_is_of_ingress_and_of_egress_only_if_it_has_rules_for_it() -> None:
    assert not passes(WEB, policy(), source=DB)
    assert passes(OUTSIDE, policy())
    assert not passes(OUTSIDE, policy(egress=[{"to": [block("198.51.100.0/24")]}]))
    assert not passes(WEB, policy(egress=[{}]), source=DB)


def test_an_empty_rule_allows_everything_and_a_missing_list_nothing() -> None:
    assert passes(OUTSIDE, egress({}))
    assert passes(DB, egress({"to": [], "ports": []}))
    assert not passes(OUTSIDE, policy(policyTypes=["Egress"]))


def test_a_connection_between_pods_needs_both_sides() -> None:
    to_data = egress({"to": [{"namespaceSelector": {}}]})
    closed = policy("data", policyTypes=["Ingress"])
    assert passes(DB, to_data)
    assert not passes(DB, to_data, closed)
    assert passes(DB, to_data, closed, policy("data", ingress=[{"from": [{"namespaceSelector": {}}]}]))
    assert not passes(WEB, policy(policyTypes=["Ingress"]), source=OUTSIDE)
