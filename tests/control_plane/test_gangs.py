"""The policy about MPI jobs on a real API server, with a definition of ``MPIJob`` that lets any fields pass."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.gangs import POLICY_NAME
from components.contract.groups import resolve_groups
from components.contract.pools import NodePool
from components.scheduling.gangs import Gangs, GangsArgs
from support.admission import Manifest, namespace, present, ready
from support.api import DRY_RUN, Answer, Api
from support.cluster import Cluster, eventually
from support.recorder import record

pytestmark = pytest.mark.control_plane

WHERE = "gangs"
POOLS: dict[str, dict[str, Any]] = {
    "small": {"role": "gpu", "size": {"min": 0, "max": 3}, "instanceTypes": ["g5.2xlarge"]},
    "large": {"role": "gpu", "size": {"min": 0, "max": 2}, "instanceTypes": ["g5.12xlarge"]},
}
"""Three nodes with one GPU, two with four."""


def definition() -> Manifest:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}}
        for name in ("v1", "v2beta1")
    ]
    names = {"kind": "MPIJob", "listKind": "MPIJobList", "plural": "mpijobs", "singular": "mpijob"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "mpijobs.kubeflow.org"},
        "spec": {"group": "kubeflow.org", "names": names, "scope": "Namespaced", "versions": versions},
    }


def policies() -> list[Manifest]:
    """Return the component's policy under a name of the test's own, bound to its namespace only."""
    groups = resolve_groups({name: NodePool.model_validate(pool) for name, pool in POOLS.items()})
    recorder = record(lambda: Gangs("x", GangsArgs(groups=groups)) and None)
    made = [each.inputs for each in recorder.resources if each.type.startswith("kubernetes:")]
    manifests: list[Manifest] = json.loads(json.dumps(made, default=str).replace(POLICY_NAME, "tested-gangs"))
    for manifest in manifests:
        manifest["metadata"] = {"name": manifest["metadata"]["name"]}
        if "matchConstraints" in manifest["spec"]:
            manifest["spec"]["matchConstraints"]["namespaceSelector"] = {"matchLabels": {"bound-to": WHERE}}
    return sorted(manifests, key=lambda each: each["kind"].endswith("Binding"))


def mpi_job(replicas: int | None, gpus: Any, version: str = "v1", more: Any = None) -> Manifest:
    containers = [{"name": "worker", "image": "x", "resources": {"limits": {"nvidia.com/gpu": gpus}}}]
    if more is not None:
        containers.append({"name": "more", "image": "x", "resources": {"limits": {"nvidia.com/gpu": more}}})
    worker = {"template": {"spec": {"containers": containers}}} | ({"replicas": replicas} if replicas else {})
    return {
        "apiVersion": f"kubeflow.org/{version}",
        "kind": "MPIJob",
        "metadata": {"name": "train", "namespace": WHERE},
        "spec": {"mpiReplicaSpecs": {"Launcher": {"replicas": 1}, "Worker": worker}},
    }


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    made = Api(cluster.kubeconfig())
    with present(made, [namespace(WHERE, WHERE), definition(), *policies()]):
        eventually(lambda: made.create(mpi_job(1, 1), **DRY_RUN).accepted)
        ready(made, mpi_job(99, 1), "tested-gangs")
        yield made


def answer(api: Api, *job: Any, **more: Any) -> Answer:
    return api.create(mpi_job(*job, **more), **DRY_RUN)


@pytest.mark.parametrize(
    ("replicas", "gpus"), [(11, 1), (11, "1"), (4, 2), (2, 4), (None, 4), (99, 0), (99, None), (99, "none")]
)
def test_what_the_pools_can_hold_passes(api: Api, replicas: int | None, gpus: Any) -> None:
    assert answer(api, replicas, gpus).accepted


@pytest.mark.parametrize("version", ["v1", "v2beta1"])
@pytest.mark.parametrize(
    ("replicas", "gpus", "fit"), [(12, 1, 11), (12, "1", 11), (5, 2, 4), (3, 3, 2), (3, 4, 2), (None, 5, 0)]
)
def test_one_worker_too_many_is_refused(api: Api, replicas: int | None, gpus: Any, fit: int, version: str) -> None:
    refused = answer(api, replicas, gpus, version)
    assert not refused.accepted
    assert f"{replicas or 1} workers with {gpus} nvidia.com/gpu each" in refused.message
    assert f"at most {fit} (small: 3 nodes with 1, large: 2 nodes with 4)" in refused.message


def test_containers_of_a_worker_count_together(api: Api) -> None:
    assert answer(api, 4, 1, more=1).accepted
    assert not answer(api, 5, 1, more=1).accepted


def test_a_job_that_starts_with_fewer_workers_passes(api: Api) -> None:
    job = mpi_job(12, 1, "v2beta1")
    job["spec"]["runPolicy"] = {"schedulingPolicy": {"minAvailable": 4}}
    assert api.create(job, **DRY_RUN).accepted


def test_a_job_that_is_too_large_by_now_can_be_changed(api: Api) -> None:
    job = f"/apis/kubeflow.org/v1/namespaces/{WHERE}/mpijobs/train"
    assert api.create(mpi_job(11, 1)).accepted
    assert api.send("PATCH", job, {"spec": {"mpiReplicaSpecs": {"Worker": {"replicas": 12}}}}).accepted
    assert api.send("PATCH", job, {"spec": {"runPolicy": {"suspend": True}}}).accepted
    api.delete(mpi_job(11, 1))
