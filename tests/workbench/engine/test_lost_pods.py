"""Which running pods an update of a local cluster would end."""

import json
from pathlib import Path
from typing import Any

import pytest

from components.contract.labels import AnnotationKey
from policies.views.node_groups.local import NODE
from workbench.engine.kubectl import Api
from workbench.engine.lost_pods import lost_pods
from workbench.report.pools import Group


def groups(**bounds: tuple[int, int]) -> dict[str, Group]:
    facts = {"role": "workload", "lifecycle": "on-demand", "instanceTypes": ["m6i.xlarge"], "labels": {}, "taints": []}
    return {name: Group(pool=name, min=low, max=high, **facts) for name, (low, high) in bounds.items()}


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


BEFORE = groups(spot=(0, 3), jobs=(2, 2))


@pytest.mark.parametrize(
    ("after", "lost"),
    [
        (BEFORE, {}),
        (groups(jobs=(2, 2)), {"spot": "1 node with 1 running pod (mlrun/train)"}),
        (groups(fast=(0, 3), jobs=(2, 2)), {"spot": "1 node with 1 running pod (mlrun/train)"}),
        (groups(spot=(0, 3)), {"jobs": "2 running pods (mlrun/serve, mlrun/serve-2)"}),
        (groups(spot=(0, 3), jobs=(1, 1)), {"jobs-1": "1 running pod (mlrun/serve-2)"}),
        (groups(spot=(0, 1), jobs=(3, 3)), {}),
    ],
    ids=["nothing goes", "an elastic pool", "a renamed pool", "a static pool", "a node of a pool", "other bounds"],
)
def test_pods_of_pools_and_nodes_that_go_are_named(after: dict[str, Group], lost: dict[str, str], api: Api) -> None:
    found = lost_pods(BEFORE, after, api)
    assert {each.change.name: each.change.carries_state for each in found} == lost
    assert {each.change.type for each in found} <= {NODE}
    assert all(each.kind for each in found)


def test_an_elastic_pool_that_goes_is_named_even_if_nothing_runs_on_its_nodes(tmp_path: Path, api: Api) -> None:
    (tmp_path / "items").write_text(json.dumps({"items": [node("spot-x", "spot"), node("spot-y", "spot")]}))
    (found,) = lost_pods(BEFORE, groups(jobs=(2, 2)), api)
    assert (found.kind, found.change.name, found.change.carries_state) == ("pool with live nodes", "spot", "2 nodes")


def test_a_stack_that_was_never_up_loses_nothing(api: Api) -> None:
    assert lost_pods({}, BEFORE, api) == []
