import json
from typing import Any

import pytest

from support.event_lines import events, kind, lines
from support.streams import CANARIES, stream
from workbench.report import as_json
from workbench.report.changes import changes_of, is_drift, unchanged
from workbench.report.event_payloads import Op
from workbench.report.events import read
from workbench.report.model import Change, Operation, Outcome, PropertyChange, Report, Source
from workbench.report.verdict import Case, judge


def changes(name: str) -> dict[str, Change]:
    return {each.change.name: each.change for each in changes_of(read(stream(name)))}


def test_a_first_creation_creates_everything_but_components_and_providers() -> None:
    found = changes_of(read(stream("first")))
    assert {each.change.operation for each in found} == {Operation.CREATE}
    types = {each.change.type for each in found}
    assert "aws:eks/cluster:Cluster" in types
    assert not [token for token in types if token.startswith(("igz-clusters:", "pulumi:"))]
    assert not any(each.kind or each.change.properties for each in found)


def test_nothing_changes_where_nothing_changed() -> None:
    found = read(stream("unchanged"))
    assert changes_of(found) == []
    assert unchanged(found) == len(changes_of(read(stream("first"))))


def test_an_edit_is_its_properties_before_and_after() -> None:
    found = changes("larger")
    assert {name: change.operation for name, change in found.items()} == {
        "prod-workload": Operation.UPDATE,
        "prod-spot": Operation.UPDATE,
        "prod-spot/k8s.io/cluster-autoscaler/node-template/label/example.com/team": Operation.UPDATE,
    }
    assert found["prod-workload"].properties == (PropertyChange("scalingConfig.maxSize", "10", "12"),)
    assert found["prod-spot"].properties == (PropertyChange('labels["example.com/team"]', "ml", "other"),)


def test_the_steps_of_a_replacement_are_one_change_with_what_forces_it() -> None:
    found = changes_of(read(stream("replaced")))
    by_name = {(each.change.type, each.change.name): each for each in found}
    cluster = by_name["aws:eks/cluster:Cluster", "prod-cluster"]
    assert (cluster.change.operation, cluster.kind) == (Operation.REPLACE, "cluster")
    assert cluster.change.carries_state == "the cluster with all that runs on it"
    assert cluster.change.properties[0] == PropertyChange("name", "research", "other", forces_replacement=True)
    group = by_name["aws:eks/nodeGroup:NodeGroup", "prod-workload"]
    assert group.change.properties == (PropertyChange("clusterName", "research", "other", forces_replacement=True),)
    assert (group.kind, group.change.carries_state) == ("live nodes", "its only node with the pods on it")
    ranks = [list(Operation).index(each.change.operation) for each in found]
    assert ranks == sorted(ranks)
    assert len({each.change.urn for each in found}) == len(found)


def test_a_lost_group_is_judged_by_what_is_live_and_not_by_what_was_asked_for() -> None:
    steps = [e for e in events("replaced") if kind(e) == "resourcePreEvent"]
    steps = [e for e in steps if e["resourcePreEvent"]["metadata"]["urn"].endswith("NodeGroup::prod-workload")]
    for step in steps:
        if old := step["resourcePreEvent"]["metadata"].get("old"):
            old["outputs"] = {**old["outputs"], "scalingConfig": {"minSize": 1, "desiredSize": 7, "maxSize": 9}}
    (group,) = changes_of(read(lines(steps)))
    assert (group.kind, group.change.carries_state) == ("live nodes", "its 7 nodes with the pods on them")


def test_an_update_that_takes_live_nodes_out_of_a_group_needs_an_approval() -> None:
    steps = [e for e in events("larger") if e.get("resourcePreEvent", {}).get("metadata", {}).get("op") == "update"]
    (step,) = (e for e in steps if e["resourcePreEvent"]["metadata"]["urn"].endswith("NodeGroup::prod-workload"))
    metadata = step["resourcePreEvent"]["metadata"]
    metadata["old"]["outputs"]["scalingConfig"] = {"minSize": 1, "desiredSize": 5, "maxSize": 10}
    metadata["new"]["inputs"]["scalingConfig"] = {"minSize": 2, "desiredSize": 2, "maxSize": 2}
    (group,) = changes_of(read(lines([step])))
    assert (group.kind, group.change.carries_state) == ("live nodes", "3 of its 5 nodes with the pods on them")


def test_a_lost_share_is_judged_by_the_account_that_stays() -> None:
    def step(op: str, type_: str, name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        urn = f"urn:pulumi:dev::igz-clusters::{type_}::{name}"
        state = {"urn": urn, "type": type_, "custom": True, "inputs": inputs, "outputs": {}}
        new = None if op == "delete" else state
        return {"resourcePreEvent": {"metadata": {"op": op, "urn": urn, "type": type_, "old": state, "new": new}}}

    tokens = "azure-native:storage:StorageAccount", "azure-native:storage:FileShare"
    found = []
    for purpose in ("home", "scratch"):
        account = {"accountName": f"for{purpose}", "kind": "FileStorage", "tags": {"igz-clusters-purpose": purpose}}
        found.append(step("same", tokens[0], purpose, account))
        found.append(step("delete", tokens[1], f"{purpose}.jobs.shared", {"accountName": account["accountName"]}))
    lost = {each.change.name: each.kind for each in changes_of(read(lines(found)))}
    assert lost == {"home.jobs.shared": "shared storage", "scratch.jobs.shared": ""}


def test_what_is_protected_is_said_to_be() -> None:
    assert changes("refused")["prod-cluster"].protected
    assert not changes("replaced")["prod-workload"].protected


def test_a_refresh_alone_is_drift_and_a_refresh_before_a_plan_is_not() -> None:
    assert is_drift(read(stream("drift")))
    assert not is_drift(read(stream("unchanged")))
    assert not is_drift(read(stream("destroyed")))


@pytest.mark.parametrize(
    ("ops", "operation"),
    [
        (("create",), Operation.CREATE),
        (("import",), Operation.CREATE),
        (("refresh", "update"), Operation.UPDATE),
        (("delete",), Operation.DELETE),
        (("delete", "same"), Operation.REPLACE),
        (("create-replacement", "replace", "delete-replaced"), Operation.REPLACE),
        (("import-replacement",), Operation.REPLACE),
        (("read", "discard", "remove-pending-replace"), None),
    ],
)
def test_steps_fold_to_the_gravest(ops: tuple[Op, ...], operation: Operation | None) -> None:
    step = next(e for e in events("larger") if kind(e) == "resourcePreEvent" and "NodeGroup::" in str(e))
    found = [json.loads(json.dumps(step)) for _ in ops]
    for event, op in zip(found, ops, strict=True):
        event["resourcePreEvent"]["metadata"]["op"] = op
        event["resourcePreEvent"]["metadata"]["old"]["custom"] = True
    folded = [each.change.operation for each in changes_of(read(lines(found)))]
    assert folded == ([operation] if operation else [])


def test_a_provider_is_a_change_only_if_it_is_replaced() -> None:
    found = [e for e in events("replaced") if "pulumi:providers:kubernetes::" in json.dumps(e.get(kind(e), {}))]
    steps = [event for event in found if kind(event) == "resourcePreEvent" and "Old" not in event]
    own = [e for e in steps if e["resourcePreEvent"]["metadata"]["type"] == "pulumi:providers:kubernetes"]
    assert own
    assert changes_of(read(lines(own))) == []
    own[-1]["resourcePreEvent"]["metadata"]["op"] = "replace"
    assert [each.change.operation for each in changes_of(read(lines(own)))] == [Operation.REPLACE]


def test_no_secret_of_a_program_is_in_a_report_although_all_are_in_its_stream() -> None:
    content = stream("secrets")
    clear = [canary for canary in CANARIES if canary.encode() in content]
    assert len(clear) >= len(CANARIES) - 1  # of the start-up script there is only its encoded form
    stack = judge(Case("secrets", Source.COMPARED, read(content)))
    assert {change.type.rpartition(":")[2] for change in stack.changes} == {
        "LaunchTemplate",
        "ConfigMap",
        "Pod",
        "Secret",
    }
    text = as_json.render(Report(Outcome.UNJUDGED, (stack,)))
    assert [canary for canary in CANARIES if canary in text] == []
    assert "Y2FuYXJ5" not in text  # the start of a canary in base64


def test_an_update_without_a_difference_by_the_provider_is_compared_here() -> None:
    step = next(e for e in events("larger") if "maxSize" in str(e) and kind(e) == "resourcePreEvent")
    metadata: dict[str, Any] = step["resourcePreEvent"]["metadata"]
    if metadata["op"] != "update":
        metadata["op"] = "update"
    metadata |= {"detailedDiff": None, "diffs": None, "keys": None}
    metadata["new"]["outputs"] = {**metadata["old"]["outputs"], "status": "DEGRADED"}
    properties = changes_of(read(lines([step])))[0].change.properties
    assert properties == (PropertyChange("status", None, "DEGRADED"),)
