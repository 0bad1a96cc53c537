"""A rehearsal's cluster on a real control plane: its nodes, its autoscaler, and its end in each way that it can end."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest

from components.contract.labels import AnnotationKey
from support.cluster import eventually
from workbench import stacks
from workbench.local import Instance, instances, remove_abandoned
from workbench.rehearsal.cluster.simulated import ApiError, LostError
from workbench.rehearsal.cluster.simulation import PREFIX, Simulation, simulated
from workbench.rehearsal.play.agenda import Clock
from workbench.rehearsal.play.chronicle import Chronicle
from workbench.rehearsal.play.labels import RUN_FOR
from workbench.rehearsal.play.node_events import capacity_refused
from workbench.rehearsal.play.site import Site
from workbench.rehearsal.scenario.events import CapacityRefused
from workbench.rehearsal.settings import Pace
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import Toolchain, ensure

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

PACE = Pace(speed=60, node_start=180)
POOL = {"igz-clusters.io/pool": "workload"}

OWNER = """
import sys, time
from workbench import stacks
from workbench.rehearsal.cluster.simulation import simulated
from workbench.rehearsal.play.labels import RUN_FOR
from workbench.rehearsal.settings import Pace
from workbench.toolchain import ensure

programs = ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])
with simulated(stacks.find("local"), Pace(), binaries=programs, progress=print) as cluster:
    print("up", cluster.instance.name, flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def binaries() -> Toolchain:
    return ensure(["kube-apiserver", "kwok", "cluster-autoscaler"])


@pytest.fixture(scope="module", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="module")
def own(binaries: Toolchain) -> Iterator[Simulation]:
    with simulated(stacks.find("local"), PACE, binaries=binaries, progress=lambda _: None) as built:
        yield built
    assert built.instance.name not in instances()


def pod(name: str, cpu: str, **metadata: Any) -> dict[str, Any]:
    requests = {"cpu": cpu, "memory": "1Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {
            "nodeSelector": POOL,
            "containers": [{"name": "main", "image": "none", "resources": {"requests": requests}}],
        },
    }


def path(name: str) -> str:
    return f"/api/v1/namespaces/default/pods/{name}"


def condition(item: dict[str, Any], type_: str) -> dict[str, Any]:
    return next((each for each in item["status"].get("conditions", ()) if each["type"] == type_), {})


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def test_the_minimum_of_every_group_is_ready_before_the_scenario(own: Simulation) -> None:
    nodes = own.api.get("/api/v1/nodes")["items"]
    ready = [each["metadata"]["labels"] for each in nodes if condition(each, "Ready").get("status") == "True"]
    for group in own.groups:
        assert sum(group.labels.items() <= labels.items() for labels in ready) >= group.min
    own.check()


def test_the_objects_of_the_stack_judge_pods_from_the_first_one(own: Simulation) -> None:
    policies = own.api.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies")["items"]
    assert "igz-pods-mandatory" in {each["metadata"]["name"] for each in policies}
    manifest = pod("own-choice", "1")
    manifest["metadata"]["namespace"] = "mlrun"
    del manifest["spec"]["nodeSelector"]
    made = own.api.create(manifest)
    assert made["metadata"]["annotations"][AnnotationKey.PLACED_BY]
    own.api.delete("/api/v1/namespaces/mlrun/pods/own-choice", grace=0)


def test_a_pod_that_no_node_has_room_for_gets_a_node_that_is_ready_after_its_start(own: Simulation) -> None:
    """And no pod is placed there before, and the autoscaler adds no second node meanwhile."""
    workers = "/api/v1/nodes?labelSelector=igz-clusters.io/pool=workload"
    before = {each["metadata"]["name"] for each in own.api.get(workers)["items"]}
    # Two of them fit on no node together.
    [cpu] = {f"{group.cpu_millis * 3 // 5}m" for group in own.groups if group.pool == "workload"}
    names = [f"large-{index}" for index in range(len(before) + 1)]
    for name in names:
        own.api.create(pod(name, cpu))
    eventually(lambda: {own.api.get(path(name))["status"].get("phase") for name in names} == {"Running"})
    nodes = {each["metadata"]["name"]: each for each in own.api.get(workers)["items"]}
    pods = {each["spec"]["nodeName"]: each for each in map(own.api.get, map(path, names))}
    added = nodes.keys() - before
    assert added
    assert added <= pods.keys()
    for name in added:
        ready = moment(condition(nodes[name], "Ready")["lastTransitionTime"])
        took = ready - moment(nodes[name]["metadata"]["creationTimestamp"])
        # Both moments are of whole seconds.
        assert took.total_seconds() >= PACE.real(PACE.node_start) - 1
        assert moment(condition(pods[name], "PodScheduled")["lastTransitionTime"]) >= ready
    for name in names:
        own.api.delete(path(name), grace=0)


def test_a_pod_that_says_how_long_it_runs_ends_unless_it_would_be_replaced(own: Simulation) -> None:
    ends = {RUN_FOR: "300ms"}
    parent = own.api.create(pod("parent", "1m"))["metadata"]
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "parent", "uid": parent["uid"]}
    labels = {"app": "replicated"}
    template = pod("", "1m")["spec"]
    own.api.create(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "replicated", "namespace": "default"},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels, "annotations": ends}, "spec": template},
            },
        }
    )
    replicas = "/api/v1/namespaces/default/pods?labelSelector=app=replicated"
    eventually(lambda: [each["status"].get("phase") for each in own.api.get(replicas)["items"]] == ["Running"])
    own.api.create(pod("bare", "1m", annotations=ends))
    own.api.create(pod("child", "1m", annotations=ends, ownerReferences=[owner]))
    own.api.create(pod("last", "1m", annotations={RUN_FOR: "900ms"}))
    ended = ("bare", "child", "last")
    eventually(lambda: {own.api.get(path(name))["status"].get("phase") for name in ended} == {"Succeeded"})
    [replica] = own.api.get(replicas)["items"]
    assert replica["status"]["phase"] == "Running"
    assert own.api.get(path("parent"))["status"]["phase"] == "Running"


def test_tolerations_of_lost_nodes_are_as_short_as_the_scenario(own: Simulation) -> None:
    made = own.api.create(pod("tolerates", "1m"))
    seconds = {each.get("tolerationSeconds") for each in made["spec"]["tolerations"]}
    assert 5 in seconds
    assert 300 not in seconds


def test_refusals_of_one_moment_refuse_nodes_of_their_groups_and_end_each_in_its_time(own: Simulation) -> None:
    clock = Clock(own.pace)
    site = Site(own, Chronicle(own, clock), clock)
    short, long = (
        capacity_refused(site, CapacityRefused.model_validate({"event": "capacity-refused", **each}))
        for each in (
            {"at": "5m", "place": {"pool": "workload"}, "lasts": "10m"},
            {"at": "5m", "place": {"lifecycle": "spot"}, "lasts": "20m"},
        )
    )
    groups = {group.pool: group.name for group in own.groups}

    def refused() -> list[str]:
        return [pool for pool in ("workload", "spot", "gpu") if is_refused(own, groups[pool])]

    assert refused() == []
    next(short), next(long)
    eventually(lambda: refused() == ["workload", "spot"])
    next(short, None)
    eventually(lambda: refused() == ["spot"])
    next(long, None)
    eventually(lambda: refused() == [])


def is_refused(own: Simulation, group: str) -> bool:
    """Return whether the API server refuses a node that the autoscaler would create."""
    metadata = {"name": "one-more", "annotations": {AnnotationKey.GROUP.value: group}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
    try:
        own.api.create(node)
    except ApiError as error:
        assert (error.status, "InsufficientInstanceCapacity" in error.message) == (422, True)
        return True
    own.api.delete(own.api.path_of(node))
    return False


def test_a_watch_ends_when_the_cluster_is_closed_and_a_killed_component_is_reported(binaries: Toolchain) -> None:
    with simulated(stacks.find("local"), PACE, binaries=binaries, progress=lambda _: None) as built:
        watch = built.api.watch("/api/v1/nodes")
        assert next(watch)["type"] == "ADDED"
        built.check()
        os.kill(built.instance.status().pids["kube-apiserver"], signal.SIGKILL)

        def is_lost() -> bool:
            try:
                built.api.get("/api/v1/nodes")
                built.check()
            except LostError as error:
                assert "kube-apiserver of the rehearsal's control plane has ended" in str(error)
                return True
            return False

        eventually(is_lost)
    assert built.instance.name not in instances()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_a_rehearsal_leaves_no_process_however_it_ends(how: signal.Signals, tmp_path: Path) -> None:
    output = tmp_path / "output"
    with output.open("w") as log:
        run = subprocess.Popen([sys.executable, "-c", OWNER], cwd=PROJECT_ROOT, stdout=log, stderr=log)
    try:
        found = eventually(lambda: re.search(r"^up (\S+)$", output.read_text(), re.MULTILINE) or run.poll() is not None)
        assert isinstance(found, re.Match), output.read_text()
        instance = Instance(found[1])
        processes = [psutil.Process(pid) for pid in instance.status().pids.values()]
        assert len(processes) > 5
    finally:
        run.send_signal(how)
        run.wait(60)
    eventually(lambda: not any(each.is_running() and each.status() != psutil.STATUS_ZOMBIE for each in processes))
    if how is signal.SIGKILL:
        assert instance.name in remove_abandoned(PREFIX)
    assert instance.name not in instances()
