"""Mistakes that admission refuses. The texts are those of Kubernetes 1.36.3 and of this project's rules."""

from typing import Any

import pytest

from components.contract.admission import spot_checks
from support.records import config, hints, record, refusal

COMPLETES = {"expect": "completes", "work": "train"}
FORBIDDEN = 'pods "train-1" is forbidden: '
POLICY = "ValidatingAdmissionPolicy 'igz-pods' with binding 'igz-pods' denied request: "


CRITICAL = {"containers": [{"name": "a", "image": "b"}], "priorityClassName": "system-cluster-critical"}


SHARED = {
    "role": "gpu",
    "size": {"min": 0, "max": 4},
    "instanceTypes": ["g5.2xlarge"],
    "sharing": {"mode": "time-slicing", "replicas": 4},
}


def refused(message: str, **fields: Any) -> dict[str, str]:
    return hints(record(refusals=[refusal("train-1", message)]), COMPLETES, **fields)


@pytest.mark.parametrize(
    ("key", "resource", "amounts"),
    [
        ("cpu", "requests.cpu", ("8", "62", "64")),
        ("memory", "requests.memory", ("16Gi", "240Gi", "256Gi")),
        ("gpus", "requests.nvidia.com/gpu", ("1", "2", "2")),
        ("gpus", "requests.nvidia.com/mig-1g.10gb", ("1", "8", "8")),  # the name of a pool without sharing
        ("gpuSlices", "requests.nvidia.com/gpu.shared", ("1", "8", "8")),
    ],
)
def test_a_quota_below_the_need_is_named_with_its_key(key: str, resource: str, amounts: tuple[str, str, str]) -> None:
    asked, used, limited = (f"{resource}={amount}" for amount in amounts)
    message = f"{FORBIDDEN}exceeded quota: requests, requested: {asked}, used: {used}, limited: {limited}"
    found = refused(message, config=config({"shared": SHARED}))
    cause = found[f"namespaces.mlrun.quota.{key}"]
    assert f"allows {amounts[2]} {resource}" in cause
    assert f"requests {amounts[0]} more" in cause


def test_a_quota_on_the_number_of_pods_is_named() -> None:
    text = "exceeded quota: team-a, requested: pods=1, used: pods=10, limited: pods=10"
    assert "allows 10 pods" in refused(FORBIDDEN + text)["namespaces.mlrun.quota"]


def test_a_quota_counts_resources_that_the_work_must_state() -> None:
    found = refused(f"{FORBIDDEN}failed quota: requests: must specify requests.memory for: base")
    assert "requests.memory" in found["works.train.memory"]


def test_a_limit_ranges_maximum_is_named_with_the_work_s_key() -> None:
    limit = refused(f"{FORBIDDEN}maximum cpu usage per Container is 4, but limit is 8")
    assert "sets the maximum of cpu per Container to 4, and the limit of train is 8" in limit["works.train.cpuLimit"]
    request = refused(f"{FORBIDDEN}maximum memory usage per Pod is 4Gi, but request is 8589934592")
    assert "8589934592" in request["works.train.memory"]


def test_a_missing_priority_class_is_named_with_the_nearest() -> None:
    works = {"train": {"kind": "mlrun-job", "priorityClass": "igz-workload-hihg"}}
    found = refused(f"{FORBIDDEN}no PriorityClass with name igz-workload-hihg was found", works=works)
    assert found["works.train.priorityClass"].endswith("did you mean 'igz-workload-high'?")


def test_a_system_class_used_by_a_user_is_named() -> None:
    works = {"train": {"kind": "mlrun-job", "priorityClass": "system-cluster-critical"}}
    by_rule = f"{FORBIDDEN}{POLICY}User pods must use a user priority class. Fix: Set priorityClassName. [PR-05]"
    by_quota = "exceeded quota: no-system-priority, requested: pods=1, used: pods=0, limited: pods=0"
    for message in (by_rule, FORBIDDEN + by_quota):
        found = refused(message, works=works)
        assert "system-cluster-critical, which is for the system only" in found["works.train.priorityClass"]
        found = refused(message, works={"train": {"kind": "pod", "pod": CRITICAL, "runsFor": "5m"}})
        assert "system-cluster-critical, which is for the system" in found["works.train.pod.priorityClassName"]


def test_an_unknown_namespace_is_named_with_the_nearest() -> None:
    found = refused('namespaces "mlrum" not found', works={"train": {"kind": "mlrun-job", "namespace": "mlrum"}})
    assert found["works.train.namespace"].endswith("no namespace mlrum, did you mean 'mlrun'?")


def test_a_namespace_without_users_is_named() -> None:
    works = {"train": {"kind": "mlrun-job", "namespace": "monitoring"}}
    found = hints(record(), COMPLETES, works=works)
    assert "monitoring, which is not a user namespace" in found["works.train.namespace"]


def test_an_mpi_job_that_the_pools_can_never_hold_is_named() -> None:
    gpu = {"role": "gpu", "size": {"min": 0, "max": 2}, "instanceTypes": ["g5.2xlarge"]}
    works = {"train": {"kind": "mpi", "workers": 8, "gpus": 1}}
    message = "the MPI job would wait forever: 8 workers with 1 nvidia.com/gpu each run only together"
    found = refused(message, works=works, config=config({"gpu": gpu}))
    assert "8 workers with 1 GPUs each" in found["pools.gpu.size.max"]
    assert "works.train.workers" in found


def test_spot_nodes_without_a_taint_make_pods_say_where_they_may_run() -> None:
    spot = {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 2}, "instanceTypes": ["m5.2xlarge"]}
    choices = config({"spot": spot})
    (check,) = spot_checks(tuple(group.__class__(**{**_fields(group), "taints": ()}) for group in choices.groups))
    works = {"train": {"kind": "pod", "runsFor": "5m", "pod": {"containers": [{"name": "a", "image": "b"}]}}}
    found = refused(FORBIDDEN + POLICY + check.message, works=works)
    assert "only a label and no taint" in found["works.train.pod.nodeSelector"]


def _fields(group: Any) -> dict[str, Any]:
    return {name: getattr(group, name) for name in group.__slots__}


@pytest.mark.parametrize(
    ("rule", "key"), [("PL-02", "nodeSelector"), ("PL-05", "role"), ("PL-06", "tolerations"), ("PL-07", "nodeSelector")]
)
def test_a_rule_that_refuses_is_named_with_its_advice_and_the_work_s_key(rule: str, key: str) -> None:
    found = refused(f"{FORBIDDEN}{POLICY}Such pods are wrong: nodeSelector x. Fix: Do better. [{rule}]")
    assert found[f"works.train.{key}"] == f"Rule {rule} refuses train: Such pods are wrong: nodeSelector x."


def test_pod_security_is_named() -> None:
    found = refused(f'{FORBIDDEN}violates PodSecurity "baseline:latest": privileged (container "base")')
    assert "privileged" in found["works.train.namespace"]
