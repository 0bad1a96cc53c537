import json
from collections.abc import Callable
from typing import Any

import pytest

from support.cluster import eventually
from workbench.local import Instance

pytestmark = [pytest.mark.control_plane, pytest.mark.xdist_group("shared")]

CAPACITY = {"cpu": "8", "memory": "32Gi", "pods": "58", "ephemeral-storage": "80Gi", "nvidia.com/gpu": "1"}
ALLOCATABLE = CAPACITY | {"cpu": "7910m", "memory": "30Gi"}
RESOURCES = {
    "igz-clusters.io/capacity": json.dumps(CAPACITY),
    "igz-clusters.io/allocatable": json.dumps(ALLOCATABLE),
}


def node(name: str, annotations: dict[str, str]) -> dict[str, Any]:
    metadata = {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake", **annotations}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}


@pytest.fixture
def is_ready(shared: Instance, get: Callable[..., Any]) -> Callable[[str], bool]:
    def look(name: str) -> bool:
        conditions = get(shared, "node", name)["status"].get("conditions", [])
        return ("Ready", "True") in {(each["type"], each["status"]) for each in conditions}

    return look


def test_a_node_gets_ready_with_the_resources_that_its_annotations_state(
    shared: Instance, apply: Callable[..., None], get: Callable[..., Any], is_ready: Callable[[str], bool]
) -> None:
    apply(shared, node("stated", RESOURCES))
    eventually(lambda: is_ready("stated"))
    status = get(shared, "node", "stated")["status"]
    assert (status["capacity"], status["allocatable"]) == (CAPACITY, ALLOCATABLE)
    assert status["nodeInfo"]["kubeletVersion"] == f"v{shared.status().versions['kube-apiserver']}"
    eventually(lambda: "taints" not in get(shared, "node", "stated")["spec"])


def test_a_node_whose_annotations_change_reports_the_new_resources_only(
    shared: Instance, apply: Callable[..., None], get: Callable[..., Any], is_ready: Callable[[str], bool]
) -> None:
    apply(shared, node("resized", RESOURCES))
    eventually(lambda: is_ready("resized"))
    small = {"cpu": "4", "memory": "16384Mi", "pods": "30"}
    apply(shared, node("resized", {"igz-clusters.io/capacity": json.dumps(small)}))
    wanted = small | {"memory": "16Gi"}
    eventually(lambda: get(shared, "node", "resized")["status"]["capacity"] == wanted)
    assert get(shared, "node", "resized")["status"]["allocatable"] == wanted


def test_a_node_can_be_made_to_fail_and_to_recover(
    shared: Instance,
    kubectl: Callable[..., str],
    apply: Callable[..., None],
    get: Callable[..., Any],
    is_ready: Callable[[str], bool],
) -> None:
    def taints() -> set[str]:
        return {taint["key"] for taint in get(shared, "node", "shaky")["spec"].get("taints", [])}

    apply(shared, node("shaky", RESOURCES))
    eventually(lambda: is_ready("shaky") and not taints())
    kubectl(shared, "annotate", "node", "shaky", "igz-clusters.io/simulate=not-ready")
    eventually(lambda: not is_ready("shaky") and "node.kubernetes.io/not-ready" in taints())
    kubectl(shared, "annotate", "node", "shaky", "igz-clusters.io/simulate-")
    eventually(lambda: is_ready("shaky") and not taints())


def test_a_node_that_nobody_simulates_is_left_alone(
    shared: Instance, apply: Callable[..., None], get: Callable[..., Any], is_ready: Callable[[str], bool]
) -> None:
    stranger = node("stranger", RESOURCES)
    del stranger["metadata"]["annotations"]["kwok.x-k8s.io/node"]
    apply(shared, stranger)
    apply(shared, node("neighbour", RESOURCES))
    eventually(lambda: is_ready("neighbour"))
    assert "capacity" not in get(shared, "node", "stranger")["status"]


def test_a_job_runs_as_long_as_its_annotation_says_and_ends_well(
    shared: Instance, apply: Callable[..., None], get: Callable[..., Any]
) -> None:
    def count(what: str) -> int:
        return int(get(shared, "job", "train", "-n", "default")["status"].get(what, 0))

    apply(shared, node("worker", RESOURCES))
    pods = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.invalid/image"}]}
    template = {"metadata": {"annotations": {"igz-clusters.io/run-for": "3s"}}, "spec": pods}
    apply(
        shared,
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "train", "namespace": "default"},
            "spec": {"template": template},
        },
    )
    eventually(lambda: count("ready") == 1)
    assert count("succeeded") == 0
    eventually(lambda: count("succeeded") == 1)
