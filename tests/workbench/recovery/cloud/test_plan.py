from dataclasses import replace
from typing import Any

import pytest

from workbench.engine.pending import UnresolvableError
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult
from workbench.recovery.cloud.plan import (
    Answer,
    Outcome,
    adopted,
    answer_of,
    identities,
    pending_creations,
    planned,
    repaired,
)

PREFIX = "urn:pulumi:dev::igz-clusters::"
GROUP = "aws:eks/nodeGroup:NodeGroup"
PROVIDER = f"{PREFIX}pulumi:providers:aws::dev-aws"
COMPONENT = f"{PREFIX}igz-clusters:clusters:EksNodeGroup::dev-gpu"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

URN = f"{PREFIX}{GROUP}::dev-gpu"
INPUTS = {"clusterName": "mlrun", "nodeGroupName": "dev-gpu-0a1b2c3", "__defaults": ["nodeGroupName"]}
RESOURCE = {"urn": URN, "type": GROUP, "custom": True, "inputs": INPUTS, "provider": f"{PROVIDER}::p1"}
CREATING = {"type": "creating", "resource": RESOURCE}
WANTED = LookupQuery(URN, GROUP, INPUTS)
FOUND = LookupResult(
    "mlrun:dev-gpu-0a1b2c3", "ACTIVE", tags={"ours": "yes"}, inputs={"nodeGroupName": "dev-gpu-0a1b2c3"}
)
BASE = {"urn": PROVIDER, "type": "pulumi:providers:aws", "custom": True, "id": "p1"}


def deployment(*resources: dict[str, Any], pending: tuple[dict[str, Any], ...] = (CREATING,)) -> dict[str, Any]:
    return {"manifest": {"time": "then"}, "resources": [BASE, *resources], "pending_operations": list(pending)}


def answer(
    *found: LookupResult, taken: frozenset[tuple[str, str]] = frozenset(), query: LookupQuery = WANTED
) -> Answer:
    return answer_of(query, found, taken, lambda each: (each.tags or {}).get("ours") == "yes")


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        ((FOUND,), Outcome.CREATED),
        ((), Outcome.ABSENT),
        ((replace(FOUND, tags={}),), Outcome.FOREIGN),
        ((FOUND, replace(FOUND, id="mlrun:dev-gpu-ffffff0")), Outcome.AMBIGUOUS),
        ((FOUND, replace(FOUND, id="mlrun:dev-gpu-ffffff0", tags={})), Outcome.CREATED),
    ],
    ids=["once", "not", "of somebody else", "twice", "once, and once of somebody else"],
)
def test_what_is_there_decides_what_became_of_it(found: tuple[LookupResult, ...], outcome: Outcome) -> None:
    assert answer(*found).outcome is outcome


def test_what_the_state_has_already_is_no_candidate() -> None:
    old = replace(FOUND, id="mlrun:dev-gpu-ffffff0")
    taken = identities(deployment({**RESOURCE, "id": old.id}))
    assert answer(old, FOUND, taken=taken).found == FOUND
    assert answer(old, taken=taken).outcome is Outcome.ABSENT


def test_what_was_made_enters_the_state_under_its_id_with_its_inputs_as_outputs() -> None:
    result = repaired(deployment(), [answer(FOUND)])
    assert result["resources"] == [
        BASE,
        {**RESOURCE, "id": FOUND.id, "outputs": {"clusterName": "mlrun", "nodeGroupName": "dev-gpu-0a1b2c3"}},
    ]
    assert "pending_operations" not in result


def test_what_was_not_made_is_dropped() -> None:
    assert repaired(deployment(), [answer()]) == {"manifest": {"time": "then"}, "resources": [BASE]}


def test_what_is_ambiguous_stays_pending_and_the_rest_is_resolved() -> None:
    other = {**RESOURCE, "urn": f"{URN}-2"}
    given = deployment(pending=(CREATING, {"type": "creating", "resource": other}))
    twice = answer(FOUND, replace(FOUND, id="mlrun:dev-gpu-ffffff0"))
    result = repaired(given, [twice, answer(FOUND, query=replace(WANTED, urn=other["urn"]))])
    assert result["pending_operations"] == [CREATING]
    assert [each["urn"] for each in result["resources"]] == [PROVIDER, other["urn"]]


def test_a_replacement_stands_before_what_it_replaces_which_is_still_to_be_deleted() -> None:
    old, tag = {**RESOURCE, "id": "mlrun:dev-gpu-old"}, {"urn": f"{PREFIX}tag", "type": "t", "dependencies": [URN]}
    result = repaired(deployment(old, tag), [answer(FOUND)])
    assert [(each["urn"], each.get("id"), each.get("delete")) for each in result["resources"]] == [
        (PROVIDER, "p1", None),
        (URN, FOUND.id, None),
        (URN, "mlrun:dev-gpu-old", True),
        (tag["urn"], None, None),
    ]


@pytest.mark.parametrize("old", ["mlrun:dev-gpu-old", FOUND.id])
def test_a_replacement_takes_the_place_of_what_was_deleted_first(old: str) -> None:
    gone = {**RESOURCE, "id": old, "pendingReplacement": True}
    assert (RESOURCE["type"], old) not in identities(deployment(gone)), "an id that is a name is free again"
    result = repaired(deployment(gone), [answer(FOUND)])
    assert [(each["id"], "pendingReplacement" in each) for each in result["resources"]] == [
        ("p1", False),
        (FOUND.id, False),
    ]


def test_a_replacement_that_was_not_made_leaves_the_state_as_it_is() -> None:
    old = {**RESOURCE, "id": "mlrun:dev-gpu-old"}
    assert repaired(deployment(old), [answer()])["resources"] == [BASE, old]


def test_objects_in_the_cluster_are_resolved_by_their_names() -> None:
    inside = {"urn": f"{PREFIX}ns", "type": "kubernetes:core/v1:Namespace", "custom": True}
    inside["inputs"] = {"metadata": {"name": "mlrun"}}
    given = deployment(pending=({"type": "creating", "resource": inside},))
    assert pending_creations(given) == []
    assert repaired(given, [])["resources"][-1]["id"] == "mlrun"


def test_what_nobody_knows_to_find_is_not_guessed() -> None:
    bucket = {**RESOURCE, "type": "gcp:storage/bucket:Bucket"}
    with pytest.raises(UnresolvableError, match="dev-gpu"):
        repaired(deployment(pending=({"type": "creating", "resource": bucket},)), [])


@pytest.mark.parametrize("operation", ["updating", "deleting", "reading"])
def test_other_operations_are_left_to_the_refresh(operation: str) -> None:
    state = {**RESOURCE, "id": FOUND.id}
    given = deployment(state, pending=({"type": operation, "resource": state},))
    assert pending_creations(given) == []
    assert repaired(given, [])["resources"] == [BASE, state]


# --- What no operation tells of --------------------------------------------------------------------------------------


def step(urn: str, type_: str, **state: Any) -> dict[str, Any]:
    new = {"urn": urn, "type": type_, "custom": False, "inputs": {}, **state}
    return {"op": "create", "urn": urn, "newState": new}


PREVIEW = {
    "steps": [
        {"op": "same", "urn": PROVIDER, "newState": BASE},
        step(COMPONENT, "igz-clusters:clusters:EksNodeGroup"),
        step(
            URN,
            GROUP,
            custom=True,
            parent=COMPONENT,
            provider=f"{PROVIDER}::p1",
            inputs={
                "clusterName": "mlrun",
                "nodeGroupName": "dev-gpu-fffffff",
                "launchTemplate": {"version": UNKNOWN},
                "nodeRoleArn": "[secret]",
                "__defaults": ["nodeGroupName"],
            },
            dependencies=[f"{PREFIX}not-yet", PROVIDER],
            propertyDependencies={"clusterName": [f"{PREFIX}not-yet"], "labels": None},
        ),
        step(f"{PREFIX}k", "kubernetes:core/v1:Namespace", custom=True, provider=f"{PROVIDER}::p1"),
        step(f"{PREFIX}v", "aws:ec2/vpc:Vpc", custom=True, provider=f"{PREFIX}other::{UNKNOWN}"),
    ]
}


def test_what_a_preview_would_make_is_looked_for_without_what_it_does_not_know() -> None:
    (query,) = planned(PREVIEW, deployment()).creations
    assert (query.urn, query.is_planned) == (URN, True)
    assert query.inputs == {
        "clusterName": "mlrun",
        "nodeGroupName": "dev-gpu-fffffff",
        "__defaults": ["nodeGroupName"],
    }


@pytest.mark.parametrize(
    ("name", "is_it"),
    [
        ("dev-gpu-0a1b2c3", True),
        ("dev-gpu-fffffff", True),
        ("dev-gpu-a-0a1b2c3", False),
        ("dev-gpu-0a1b2c", False),
        ("dev-gpu", False),
    ],
)
def test_an_automatic_name_is_known_by_its_form(name: str, is_it: bool) -> None:
    (query,) = planned(PREVIEW, deployment()).creations
    assert query.is_called("nodeGroupName", name) is is_it
    assert WANTED.is_called("nodeGroupName", name) is (name == "dev-gpu-0a1b2c3")


def test_a_name_that_the_program_chose_is_the_name() -> None:
    log = LookupQuery(URN, "aws:cloudwatch/logGroup:LogGroup", {"name": "/aws/x", "__defaults": []}, is_planned=True)
    assert log.is_called("name", "/aws/x")
    assert not log.is_called("name", "dev-gpu-0a1b2c3")


def test_what_is_adopted_has_the_name_of_then_its_parents_and_no_word_of_what_the_state_lacks() -> None:
    given = deployment(pending=())
    plan = planned(PREVIEW, given)
    result = adopted(given, plan, [answer(FOUND, query=plan.creations[0])])
    base, component, group = result["resources"]
    assert (base, component["urn"], component["custom"]) == (BASE, COMPONENT, False)
    assert group["id"] == FOUND.id
    assert group["inputs"]["nodeGroupName"] == group["outputs"]["nodeGroupName"] == "dev-gpu-0a1b2c3"
    assert group["inputs"]["__defaults"] == ["nodeGroupName"]
    assert "__defaults" not in group["outputs"]
    assert group["dependencies"] == [PROVIDER]
    assert group["propertyDependencies"] == {"clusterName": [], "labels": []}
    assert (group["parent"], group["provider"]) == (COMPONENT, f"{PROVIDER}::p1")


def test_what_is_adopted_already_is_not_adopted_again() -> None:
    given = deployment({**RESOURCE, "id": FOUND.id}, pending=())
    plan = planned(PREVIEW, given)
    assert adopted(given, plan, [answer(FOUND, query=plan.creations[0])]) == given


REPLACED = {"steps": [{**each, "op": "replace"} if each["urn"] == URN else each for each in PREVIEW["steps"]]}
LATER = {"urn": f"{PREFIX}tag", "type": "t", "dependencies": [URN]}


@pytest.mark.parametrize(
    ("old", "rest"),
    [
        ({"id": "mlrun:dev-gpu-old"}, [("mlrun:dev-gpu-old", True)]),
        ({"id": "mlrun:dev-gpu-old", "pendingReplacement": True}, []),
        ({"id": FOUND.id, "pendingReplacement": True}, []),
    ],
    ids=["made before the old one goes", "made after it went", "under the same name"],
)
def test_a_replacement_whose_answer_was_lost_takes_the_place_of_the_old_one(
    old: dict[str, Any], rest: list[tuple[str, bool]]
) -> None:
    given = deployment({"urn": COMPONENT}, {**RESOURCE, **old}, LATER, pending=())
    plan = planned(REPLACED, given)
    (query,) = plan.creations
    result = adopted(given, plan, [answer(FOUND, query=query, taken=identities(given))])["resources"]
    assert [each["urn"] for each in result] == [PROVIDER, COMPONENT, URN, *[URN for _ in rest], LATER["urn"]]
    assert [(each["id"], each.get("delete", False)) for each in result if each["urn"] == URN] == [
        (FOUND.id, False),
        *rest,
    ]
    assert not [each for each in result if each.get("pendingReplacement")]


def test_a_planned_replacement_that_was_not_begun_changes_nothing() -> None:
    given = deployment({"urn": COMPONENT}, {**RESOURCE, "id": FOUND.id}, pending=())
    (query,) = planned(REPLACED, given).creations
    assert answer(FOUND, query=query, taken=identities(given)).outcome is Outcome.ABSENT
