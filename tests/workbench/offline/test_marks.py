"""Every fact about a cloud has a source, or is marked as assumed with what to try."""

from collections.abc import Iterator

import pytest

from tools.pages.facts_page import answered, others, questions
from workbench.offline.aws.facts import facts as aws
from workbench.offline.azure.facts import facts as azure
from workbench.offline.facts import Facts, Marked, Resource, Statement

POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"
TYPES = pytest.mark.parametrize("known", [*aws().resources.values(), *azure().resources.values()])
CLOUDS = pytest.mark.parametrize("facts", [aws(), azure()], ids=["aws", "azure"])


def marked(facts: Facts[Resource]) -> Iterator[Marked]:
    """Give all that is said."""
    for said in (facts.common, *facts.resources.values()):
        yield from (*said.says, *said.calls, *said.retries, *said.errors)


@TYPES
def test_no_input_is_without_an_answer_to_a_question(known: Resource) -> None:
    asked = [(path, question) for path in known.inputs for question in questions(known, path)]
    missing = {(path, question) for path, question in asked if known.said(path, question) is None}
    # Of AWS's inputs that are kept, only some have a value that clears them.
    assert {question for _, question in missing} <= ({"cleared"} if known in aws().resources.values() else set())


@pytest.mark.parametrize("mark", [{}, {"source": "a", "assumed": "b"}])
def test_a_fact_has_either_a_source_or_what_to_try(mark: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="either a source or"):
        Statement(question="read", answer="read back", of=("*",), **mark)


@CLOUDS
def test_every_source_is_used_and_dated(facts: Facts[Resource]) -> None:
    assert {each.source for each in marked(facts)} - {""} == facts.sources.keys()
    assert all(each.year or each.date for each in facts.sources.values())


@pytest.mark.parametrize("known", azure().resources.values())
def test_every_statement_is_the_answer_for_some_input(known: Resource) -> None:
    assert [each for each in known.says if each not in answered(known)] == []


@pytest.mark.parametrize("known", azure().resources.values())
def test_every_operation_has_calls(known: Resource) -> None:
    assert {each.operation for each in known.operations()} == {"create", "update", "delete", "order"}
    assert not {"order"} & {each.operation for each in known.calls}
    assert others(known)


@pytest.mark.parametrize(
    ("type_", "path", "question", "answer", "is_assumed"),
    [
        (POOL, "vnetSubnetID", "change", "refused", False),
        (POOL, "kubeletConfig.podMaxPids", "change", "refused", False),
        (POOL, "count", "change", "accepted", False),
        (POOL, "nodeLabels", "absent", "keeps", True),
        (POOL, "upgradeSettings.maxSurge", "cleared", "never", False),
        (POOL, "upgradeSettings.maxSurge", "absent", "keeps", False),
        (POOL, "upgradeSettings.maxUnavailable", "absent", "keeps", True),
        (CLUSTER, "addonProfiles", "absent", "keeps", False),
        (CLUSTER, "addonProfiles{}.config", "absent", "keeps", True),
        (CLUSTER, "upgradeSettings.overrideSettings", "absent", "keeps", True),
        (CLUSTER, "upgradeSettings.overrideSettings", "cleared", "never", False),
        (CLUSTER, "windowsProfile.gmsaProfile.enabled", "cleared", "another value", True),
        (CLUSTER, "servicePrincipalProfile.secret", "read", "not read back", False),
        ("azure-native:network:PublicIPAddress", "zones", "absent", "refused", False),
        ("azure-native:network:Subnet", "routeTable", "absent", "resets", False),
        ("azure-native:network:VirtualNetwork", "subnets", "absent", "keeps", False),
    ],
)
def test_the_innermost_statement_answers(type_: str, path: str, question: str, answer: str, is_assumed: bool) -> None:
    found = azure().resources[type_].said(path, question)
    assert found
    assert (found.answer, not found.source) == (answer, is_assumed)


def test_what_cannot_be_is_not_asked() -> None:
    assert questions(azure().resources[POOL], "resourceName") == ["declared", "replaced"]
    assert "change" not in questions(azure().resources[POOL], "vmSize")
    assert "absent" not in questions(azure().resources[CLUSTER], "location")
    assert "absent" not in questions(azure().resources[CLUSTER], "addonProfiles{}.enabled")
    assert "cleared" not in questions(azure().resources["azure-native:network:Subnet"], "routeTable")
