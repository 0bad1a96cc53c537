"""Pods whose placement no node could meet, corrected by a real API server."""

from collections.abc import Iterator
from typing import Any

import pytest

from components.contract.groups import resolve_groups
from components.contract.pod_corrections import (
    CORRECTED,
    correction_patches,
    correction_variables,
    pod_corrections,
)
from components.contract.pools import NodePool
from components.contract.taints import OWN_SPOT_TAINT
from components.scheduling.policy_objects import resources, variables
from support.admission import present
from support.api import Api
from support.cluster import Cluster, eventually, pod

pytestmark = [pytest.mark.control_plane, pytest.mark.full]

API = "admissionregistration.k8s.io/v1"
SIZE = {"size": {"min": 0, "max": 9}}
POOLS = {
    "jobs": {"role": "workload", **SIZE, "instanceTypes": ["m6i.2xlarge"]},
    "gpu": {"role": "gpu", **SIZE, "instanceTypes": ["g5.4xlarge"]},
    "spot": {"role": "workload", "lifecycle": "spot", **SIZE, "instanceTypes": ["m6i.2xlarge"]},
}
USER = {"igz-clusters.io/user-workloads": "true"}
ROLE, POOL, LIFECYCLE = "igz-clusters.io/role", "igz-clusters.io/pool", "app.iguazio.com/lifecycle"
JOBS, GPU = {**USER, ROLE: "workload"}, {**USER, ROLE: "gpu"}
TAINTED, OPEN = "corrected-tainted", "corrected-open"
NOTE = "igz-clusters.io/corrected"


def policies(name: str, *, tainted: bool) -> Iterator[dict[str, Any]]:
    models = {pool: NodePool.model_validate(choices) for pool, choices in POOLS.items()}
    needs = pod_corrections(resolve_groups(models, OWN_SPOT_TAINT if tainted else None))
    selector = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}
    spec = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConstraints": {"resourceRules": [resources("", ["pods"], "CREATE")], **selector},
        "matchConditions": [{"name": key, "expression": value} for key, value in CORRECTED.items()],
        "variables": variables(correction_variables(needs)),
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": correction_patches(needs)}}],
    }
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield {"apiVersion": API, "kind": "MutatingAdmissionPolicy", "metadata": {"name": name}, "spec": spec}
    binding = {"policyName": name}
    yield {"apiVersion": API, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": name}, "spec": binding}


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    api = Api(cluster.kubeconfig())
    made = [*policies(TAINTED, tainted=True), *policies(OPEN, tainted=False)]
    with present(api, made):
        for name in (TAINTED, OPEN):
            probe = pod("probe", namespace=name, nodeSelector=GPU)
            eventually(lambda probe=probe: NOTE in str(api.create(probe, dryRun="All").body))
        yield api


def created(api: Api, namespace: str, spec: dict[str, Any], labels: dict[str, str] | None = None) -> dict[str, Any]:
    answer = api.create(pod("x", namespace=namespace, labels=labels or {}, **spec), dryRun="All")
    assert answer.accepted, answer.message
    made: dict[str, Any] = answer.body
    return made


def asking(name: str, amount: str = "1") -> dict[str, Any]:
    amounts = {"cpu": "1", "memory": "1Gi", name: amount}
    container = {"name": "main", "image": "example.invalid/train", "resources": {"limits": amounts}}
    return {"containers": [container]}


def on_node(name: str) -> dict[str, Any]:
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


@pytest.mark.parametrize(
    ("spec", "role"),
    [
        ({"nodeSelector": JOBS, **asking("nvidia.com/gpu")}, "gpu"),
        ({"nodeSelector": JOBS, **asking("nvidia.com/mig-1g.5gb")}, "gpu"),
        ({"nodeSelector": GPU, **asking("nvidia.com/gpu")}, "gpu"),
        # The launcher of an MPI job, a build or a step with the selector of a GPU function.
        ({"nodeSelector": GPU}, "workload"),
        ({"nodeSelector": JOBS}, "workload"),
        # MLRun's builds request 0 GPUs, which gives them the toleration, too.
        ({"nodeSelector": GPU, **asking("nvidia.com/gpu", "0")}, "workload"),
        ({"nodeSelector": JOBS, **asking("nvidia.com/gpu", "0")}, "workload"),
        ({"nodeSelector": USER, **asking("nvidia.com/gpu")}, None),
        ({"nodeSelector": {**USER, ROLE: "jupyter"}, **asking("nvidia.com/gpu")}, "jupyter"),
        ({"nodeSelector": GPU, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}, "gpu"),
        ({"nodeSelector": {**GPU, POOL: "gpu"}}, "gpu"),
    ],
)
def test_the_role_follows_the_gpu_request(api: Api, spec: dict[str, Any], role: str | None) -> None:
    made = created(api, TAINTED, spec)
    assert made["spec"]["nodeSelector"].get(ROLE) == role
    assert (NOTE in made["metadata"].get("annotations", {})) is (role != spec["nodeSelector"].get(ROLE))


def test_a_core_service_is_not_corrected(api: Api) -> None:
    made = created(api, TAINTED, {"nodeSelector": GPU}, {"igz-clusters.io/core-service": "true"})
    assert made["spec"]["nodeSelector"] == GPU


def test_a_pod_that_selects_spot_nodes_gets_the_toleration_of_their_taint_once(api: Api) -> None:
    spot = {"nodeSelector": {**JOBS, LIFECYCLE: "preemptible"}}
    wanted = OWN_SPOT_TAINT.toleration()
    assert wanted in created(api, TAINTED, spot)["spec"]["tolerations"]
    given = created(api, TAINTED, {**spot, "tolerations": [wanted]})
    assert given["spec"]["tolerations"].count(wanted) == 1
    assert wanted not in created(api, OPEN, spot)["spec"]["tolerations"]


@pytest.mark.parametrize(
    ("spec", "labels", "lifecycle"),
    [
        ({}, {}, None),  # placement answers for it
        ({"nodeSelector": JOBS}, {}, "non-preemptible"),
        ({"nodeSelector": JOBS}, {"mlrun/class": "build"}, "non-preemptible"),
        ({"nodeSelector": JOBS}, {"workflows.argoproj.io/workflow": "churn-7x2"}, "non-preemptible"),
        # MLRun's modes allow and none write nothing, so that nothing is an answer.
        ({"nodeSelector": JOBS}, {"mlrun/class": "job"}, None),
        ({"nodeSelector": JOBS}, {"nuclio.io/class": "function"}, None),
        ({"nodeSelector": {**JOBS, LIFECYCLE: "preemptible"}}, {}, "preemptible"),
        # The DaemonSet controller names the node, which may be a spot node.
        ({"nodeSelector": JOBS, **on_node("spot-0")}, {}, None),
    ],
)
def test_without_a_taint_a_pod_that_says_nothing_stays_off_spot_nodes(
    api: Api, spec: dict[str, Any], labels: dict[str, str], lifecycle: str | None
) -> None:
    assert created(api, OPEN, spec, labels)["spec"].get("nodeSelector", {}).get(LIFECYCLE) == lifecycle


def test_with_a_taint_nothing_need_be_said(api: Api) -> None:
    assert LIFECYCLE not in created(api, TAINTED, {"nodeSelector": JOBS})["spec"]["nodeSelector"]
