"""Assumed facts that a run exercised: only those of inputs that it changed, or that it set and refreshed."""

from typing import Any

import pytest

from support.acceptance import step, stream
from workbench.acceptance.assumptions import of_second_update, of_update
from workbench.acceptance.record import Verdict
from workbench.report.event_payloads import Step

CLUSTER = "azure-native:containerservice:ManagedCluster"
RULE = "azure-native:monitor:DataCollectionRule"
POD_IDENTITY = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


def changed(type_: str, path: str, op: str = "update") -> Step:
    return step(op, "it", type_, detailedDiff={path: {"diffKind": "update"}})


@pytest.mark.parametrize(
    ("made", "inputs", "fact", "verdict"),
    [
        (
            changed(CLUSTER, "agentPoolProfiles[0].maxCount"),
            "agentPoolProfiles[].maxCount",
            "another value: accepted",
            Verdict.CONFIRMED,
        ),
        (changed(POD_IDENTITY, "policy"), "policy", "planned for another value: update", Verdict.CONFIRMED),
        (changed(POD_IDENTITY, "policy", "replace"), "policy", "planned for another value: update", Verdict.REFUTED),
        (changed(RULE, "location", "replace"), "location", "planned for another value: replace", Verdict.CONFIRMED),
        (changed(RULE, "location"), "location", "planned for another value: replace", Verdict.REFUTED),
    ],
)
def test_a_change_confirms_or_refutes_what_is_assumed_of_its_input(
    made: Step, inputs: str, fact: str, verdict: Verdict
) -> None:
    found = [each for each in of_update(stream(made), "change") if each.fact == fact]
    assert [(each.inputs, each.verdict, each.step) for each in found] == [((inputs,), verdict, "change")]


def test_a_change_that_the_cloud_refuses_refutes_that_it_is_accepted() -> None:
    refused = stream()
    refused.failures.append(changed(CLUSTER, "agentPoolProfiles[0].maxCount"))
    assert [each.verdict for each in of_update(refused, "change")] == [Verdict.REFUTED]


@pytest.mark.parametrize(
    "made",
    [
        changed(CLUSTER, "tags.team"),
        changed("kubernetes:core/v1:Node", "metadata.labels"),
        step("same", "it", CLUSTER),
        step("create", "it", CLUSTER),
    ],
    ids=["a fact with a source", "no resource of a cloud", "unchanged", "created"],
)
def test_what_exercises_no_assumption_is_not_listed(made: Step) -> None:
    assert list(of_update(stream(made), "change")) == []


def test_inputs_that_are_set_and_not_different_after_a_refresh_are_consistent_and_no_more() -> None:
    inputs: dict[str, Any] = {"metadataOptions": {"httpTokens": "required"}, "imageId": "ami-1"}
    found = list(of_second_update([{"type": TEMPLATE, "inputs": inputs}], "again"))
    assert {each.inputs[0] for each in found} == {"metadataOptions", "metadataOptions.httpTokens"}
    assert {each.verdict for each in found} == {Verdict.CONSISTENT}
