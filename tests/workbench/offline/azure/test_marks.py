"""Every fact about Azure has a source, or is marked as assumed with what to try."""

from collections.abc import Iterator
from typing import Any

import pytest

from workbench.offline.azure.facts import facts, resource
from workbench.offline.azure.inputs import inputs_of, questions, said

POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"
TYPES = pytest.mark.parametrize("type_", facts().resources)


def others(type_: str) -> Iterator[Any]:
    """Give what is said of a type beside its inputs."""
    known = resource(type_)
    yield from {**facts().common["calls"], **known.calls}.values()
    yield from known.errors
    yield from (*facts().common["retries"], facts().common["order"])


@TYPES
def test_no_input_is_without_an_answer_to_a_question(type_: str) -> None:
    missing = [(p, q) for p in inputs_of(type_) for q in questions(type_, p) if said(type_, p, q) is None]
    assert missing == []


@TYPES
def test_every_fact_has_a_source_or_is_assumed(type_: str) -> None:
    marked = [(each.source, each.assumed) for each in (*facts().common["says"], *resource(type_).says)]
    marked += [(each.get("source", ""), each.get("assumed", "")) for each in others(type_)]
    assert [each for each in marked if bool(each[0]) is bool(each[1])] == []
    assert {source for source, _ in marked if source} <= facts().sources.keys()


def test_every_source_is_used_and_dated() -> None:
    used = {each.source for known in facts().resources.values() for each in known.says}
    used |= {each.source for each in facts().common["says"]}
    used |= {each.get("source", "") for type_ in facts().resources for each in others(type_)}
    assert used - {""} == facts().sources.keys()
    assert all(each.get("year") or each.get("date") for each in facts().sources.values())


@TYPES
def test_every_statement_is_the_answer_for_some_input(type_: str) -> None:
    found = {id(said(type_, p, q)) for p in inputs_of(type_) for q in questions(type_, p)}
    assert [each for each in resource(type_).says if id(each) not in found] == []


@TYPES
def test_every_operation_has_calls(type_: str) -> None:
    assert {**facts().common["calls"], **resource(type_).calls}.keys() == {"create", "update", "delete"}


@pytest.mark.parametrize(
    ("type_", "path", "question", "answer", "is_assumed"),
    [
        (POOL, "vnetSubnetID", "change", "refused", False),
        (POOL, "kubeletConfig.podMaxPids", "change", "refused", False),
        (POOL, "count", "change", "accepted", False),
        (POOL, "nodeLabels", "absent", "keeps", True),
        (POOL, "upgradeSettings.maxSurge", "cleared", "never", False),
        (CLUSTER, "addonProfiles{}.config", "absent", "keeps", False),
        (CLUSTER, "servicePrincipalProfile.secret", "read", "not read back", False),
        ("azure-native:network:PublicIPAddress", "zones", "absent", "refused", False),
        ("azure-native:network:Subnet", "routeTable", "absent", "resets", False),
        ("azure-native:network:VirtualNetwork", "subnets", "absent", "keeps", False),
    ],
)
def test_the_innermost_statement_answers(type_: str, path: str, question: str, answer: str, is_assumed: bool) -> None:
    found = said(type_, path, question)
    assert found
    assert (found.answer, not found.source) == (answer, is_assumed)


def test_what_cannot_be_is_not_asked() -> None:
    assert questions(POOL, "resourceName") == ["declared", "replaced"]
    assert "change" not in questions(POOL, "vmSize")
    assert "absent" not in questions(CLUSTER, "location")
    assert "absent" not in questions(CLUSTER, "addonProfiles{}.enabled")
    assert "cleared" not in questions("azure-native:network:Subnet", "routeTable")
