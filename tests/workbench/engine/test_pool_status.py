import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from components.contract.aws import NODE_GROUP_NAME_MAX
from components.contract.group_outputs import described
from components.contract.labels import AnnotationKey, LabelKey
from components.contract.names import automatic
from infra.config import parse
from workbench.engine.kubectl import Api
from workbench.engine.pool_status import Condition, Live, Status, declared_groups, live_groups, recorded_groups, show
from workbench.report.events import STACK_TYPE

POOLS = {
    "initial": {"role": "initial", "size": {"min": 1, "max": 1}, "instanceTypes": ["m6i.2xlarge"]},
    "jobs": {"role": "workload", "size": {"min": 1, "max": 5}, "instanceTypes": ["m6i.2xlarge", "m6i.4xlarge"]},
}
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
AGENT_POOL = "azure-native:containerservice:AgentPool"


def node(pool: str, group: str = "", *, ready: bool = True, **labels: str) -> dict[str, Any]:
    return {
        "kind": "Node",
        "metadata": {
            "labels": {LabelKey.POOL.value: pool, **labels},
            "annotations": {AnnotationKey.GROUP.value: group} if group else {},
        },
        "status": {"conditions": [{"type": "Ready", "status": str(ready)}]},
    }


def priority(name: str, value: int) -> dict[str, Any]:
    return {"kind": "PriorityClass", "metadata": {"name": name}, "value": value}


LIVE = [
    node("initial"),
    node("jobs", "jobs"),
    node("jobs", "jobs-16cpu-64gib"),
    node("jobs", "jobs-16cpu-64gib", ready=False),
    priority("igz-workload-high", 300),
    priority("igz-workload-low", 100),
    priority("somebody-elses", 7),
]


def deployment(pools: dict[str, Any], *resources: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a stack whose last `up` had these pools."""
    choices = {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": pools}
    groups = {group.name: described(group) for group in parse(choices).groups}
    stack = {"urn": "urn:pulumi:s::p::x::p-s", "type": STACK_TYPE, "outputs": {"pools": groups}}
    return {"resources": [stack, *resources]}


def asked(folder: Path, items: list[dict[str, Any]], state: dict[str, Any]) -> Live:
    """Return what a cluster with these objects has."""
    (folder / "items.json").write_text(json.dumps({"items": items}))
    program = folder / "kubectl"
    program.write_text(f"#!/bin/sh\ncat {folder / 'items.json'}\n")
    program.chmod(0o755)
    return live_groups(Api(program, Path("kubeconfig"), {}), state)


def status(pools: dict[str, Any], live: Live | None, *, edited: dict[str, Any] | None = None) -> Status:
    choices = {"schemaVersion": 1, "environment": "dev", "cluster": {"kind": "local"}, "pools": edited or pools}
    recorded = recorded_groups(deployment(pools)) if pools else {}
    condition = Condition.UP if live else Condition.ABSENT
    return Status("s", "dev", "local", condition, "", declared_groups(parse(choices)), recorded, live)


def shown(found: Status, width: int = 80) -> list[str]:
    console = Console(file=StringIO(), width=width)
    show(found, console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_a_group_is_declared_as_it_is_recorded() -> None:
    gpus = {**POOLS, "gpu": {"role": "gpu", "size": {"min": 0, "max": 2}, "instanceTypes": ["g5.xlarge"]}}
    found = status(gpus, None)
    declared, recorded = found.declared["gpu"], found.recorded["gpu"]
    assert (declared.gpus, declared.gpu_model) == (1, "A10G")
    assert declared == recorded


def test_nodes_are_counted_by_the_group_that_they_were_made_from(tmp_path: Path) -> None:
    live = asked(tmp_path, LIVE, deployment(POOLS))
    assert live.nodes == {"initial": 1, "jobs": 1, "jobs-16cpu-64gib": 2}
    assert live.ready == {"initial": 1, "jobs": 1, "jobs-16cpu-64gib": 1}
    assert live.priority_classes == {"igz-workload-low": 100, "igz-workload-high": 300}


def test_a_node_in_a_cloud_belongs_to_the_group_that_the_state_records_under_the_clouds_name(tmp_path: Path) -> None:
    made = {"urn": f"urn:pulumi:s::p::{NODE_GROUP}::s-jobs-16cpu-64gib", "type": NODE_GROUP}
    state = deployment(POOLS, {**made, "outputs": {"nodeGroupName": "s-jobs-16cpu-64gib-0a1b2c3"}})
    label = {"eks.amazonaws.com/nodegroup": "s-jobs-16cpu-64gib-0a1b2c3"}
    live = asked(tmp_path, [node("jobs", **label), node("initial"), node("jobs")], state)
    assert live.nodes == {"jobs-16cpu-64gib": 1, "initial": 1, "jobs": 1}


def test_a_node_belongs_to_its_group_although_the_stacks_name_leaves_no_room_for_the_groups(tmp_path: Path) -> None:
    stack = "a-team-with-a-long-name-in-a-region-far-away"
    called = automatic(f"{stack}-jobs-16cpu-64gib", NODE_GROUP_NAME_MAX)
    made = {"urn": f"urn:pulumi:{stack}::p::{NODE_GROUP}::{called}", "type": NODE_GROUP}
    state = deployment(POOLS, {**made, "outputs": {"nodeGroupName": f"{called}-0a1b2c3"}})
    live = asked(tmp_path, [node("jobs", **{"eks.amazonaws.com/nodegroup": f"{called}-0a1b2c3"})], state)
    assert live.nodes == {"jobs-16cpu-64gib": 1}


def test_a_node_of_aks_belongs_to_its_group_by_the_name_of_its_agent_pool(tmp_path: Path) -> None:
    pool = {"urn": f"urn:pulumi:s::p::{AGENT_POOL}::s-pools-jobs-16cpu-64gib", "type": AGENT_POOL}
    state = deployment(POOLS, {**pool, "outputs": {"name": "jobs16cpu"}})
    live = asked(tmp_path, [node("jobs", **{"kubernetes.azure.com/agentpool": "jobs16cpu"})], state)
    assert live.nodes == {"jobs-16cpu-64gib": 1}


def test_the_table_names_every_group_with_its_machines(tmp_path: Path) -> None:
    lines = [line.split() for line in shown(status(POOLS, asked(tmp_path, LIVE, deployment(POOLS))))]
    assert [line[0] for line in lines[1:5]] == ["group", "initial", "jobs", "jobs-16cpu-64gib"]
    assert lines[4][1:] == ["workload", "on-demand", "0..5", "0..5", "2", "1", "m6i.4xlarge"]


def test_an_edit_without_an_update_changes_the_stack_files_column_alone(tmp_path: Path) -> None:
    bigger = {**POOLS, "jobs": {**POOLS["jobs"], "size": {"min": 1, "max": 9}}}
    renamed = {"initial": POOLS["initial"], "batch": POOLS["jobs"]}
    live = asked(tmp_path, LIVE, deployment(POOLS))
    rows = {line.split()[0]: line.split()[3:7] for line in shown(status(POOLS, live, edited=bigger))[2:5]}
    assert rows["jobs"] == ["1..9", "1..5", "1", "1"]
    rows = {line.split()[0]: line.split()[3:7] for line in shown(status(POOLS, live, edited=renamed))[2:7]}
    assert rows["batch"] == ["1..5", "-", "0", "0"]
    assert rows["jobs"] == ["-", "1..5", "1", "1"]
    assert "Not applied yet; `igz-clusters up s` applies it:" in shown(status(POOLS, live, edited=renamed))


def test_a_cluster_that_was_never_made_has_no_nodes_and_no_priority_classes() -> None:
    lines = shown(status({}, None, edited=POOLS))
    assert lines[0] == "s (dev, local): not created"
    assert lines[2].split()[3:7] == ["1", "-", "?", "?"]
    assert not [line for line in lines if "igz-workload" in line or "Not applied" in line or "labels" in line]


@pytest.mark.parametrize("live", [None, Live({"initial": 1, "gone": 2}, {"initial": 1})])
def test_json_keeps_the_three_sources_apart(live: Live | None) -> None:
    rows = {row["group"]: row for row in status(POOLS, live).as_json()["groups"]}
    assert rows["jobs"]["declared"] == rows["jobs"]["recorded"]
    assert rows["initial"]["live"] == ({"nodes": 1, "ready": 1} if live else None)
    assert ("gone" in rows) == bool(live)
