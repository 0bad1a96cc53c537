"""Which running pods an update of a local cluster would end."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.contract.labels import AnnotationKey
from policies.views.node_groups.local import NODE
from workbench.engine.kubectl import Api
from workbench.engine.lost_pods import lost_pods
from workbench.report.events import STACK_TYPE, State, Step, Stream

NODE_INPUTS = {"metadata": {"labels": {"igz-clusters.io/role": "workload", "igz-clusters.io/pool": "jobs"}}}
URN = "urn:pulumi:local::igz-clusters::"


def group(name: str) -> dict[str, Any]:
    facts = {"pool": name, "role": "workload", "lifecycle": "on-demand", "min": 0, "max": 3}
    return {**facts, "instanceTypes": ["m6i.xlarge"], "labels": {}, "taints": []}


def planned(before: list[str], after: list[str], *deleted: str) -> Stream:
    """Return a plan that goes from pools to others and deletes nodes."""
    urn = f"{URN}{STACK_TYPE}::s"
    old, new = (
        State(urn=urn, inputs={}, outputs={"pools": {name: group(name) for name in names}}) for names in (before, after)
    )
    stack = Step(op="same", urn=urn, type=STACK_TYPE, old=old, new=new)
    nodes = [
        Step(
            op="delete",
            urn=f"{URN}{NODE}::{name}",
            type=NODE,
            old=State(urn="", custom=True, inputs=NODE_INPUTS, outputs={}),
            new=None,
        )
        for name in deleted
    ]
    return Stream(steps=[stack, *nodes], results=[stack])


def node(name: str, group: str) -> dict[str, Any]:
    return {"kind": "Node", "metadata": {"name": name, "annotations": {AnnotationKey.GROUP.value: group}}}


def pod(name: str, node: str, phase: str = "Running", owner: str = "Job") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "mlrun", "ownerReferences": [{"kind": owner}]}
    return {"kind": "Pod", "metadata": metadata, "spec": {"nodeName": node}, "status": {"phase": phase}}


LIVE = [
    node("spot-x", "spot"),
    node("jobs-0", "jobs"),
    node("jobs-1", "jobs"),
    pod("train", "spot-x"),
    pod("done", "spot-x", "Succeeded"),
    pod("plug-in", "spot-x", owner="DaemonSet"),
    pod("serve", "jobs-0"),
    pod("serve-2", "jobs-1"),
]


@pytest.fixture
def api(tmp_path: Path) -> Api:
    (tmp_path / "items").write_text(json.dumps({"items": LIVE}))
    program = tmp_path / "kubectl"
    program.write_text(f"#!/bin/sh\ncat {tmp_path}/items\n")
    program.chmod(0o755)
    return Api(program, None, {})


@pytest.mark.parametrize(
    ("stream", "lost"),
    [
        (planned(["spot", "jobs"], ["spot", "jobs"]), {}),
        (planned(["spot", "jobs"], ["jobs"]), {"spot": "1 running pod (mlrun/train)"}),
        (planned(["spot", "jobs"], ["fast", "jobs"]), {"spot": "1 running pod (mlrun/train)"}),
        (
            planned(["jobs", "spot"], ["spot"], "jobs-0", "jobs-1"),
            {"jobs": "2 running pods (mlrun/serve, mlrun/serve-2)"},
        ),
        (planned(["jobs"], ["jobs"], "jobs-1"), {"jobs-1": "1 running pod (mlrun/serve-2)"}),
        (planned(["jobs", "empty"], ["jobs"]), {}),
    ],
    ids=["nothing goes", "an elastic pool", "a renamed pool", "a static pool", "a node of a pool", "an empty pool"],
)
def test_pods_of_pools_and_nodes_that_go_are_named(stream: Stream, lost: dict[str, str], api: Api) -> None:
    found = lost_pods(stream, api)
    assert {each.change.name: each.change.carries_state for each in found} == lost
    assert {each.change.type for each in found} <= {NODE}
    assert all(each.kind for each in found)
