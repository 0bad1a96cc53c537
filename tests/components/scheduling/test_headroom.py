"""Placeholder pods, as the API server will see them."""

from typing import Any

import pytest

from support.eks import build, built

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
CLASS = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
NAMESPACE = "kubernetes:core/v1:Namespace"
ROOM = {"pods": 2, "cpu": "3", "memory": "12Gi"}


def placeholders(pool: str, changes: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    made = build({f"pools.{pool}.headroom": {**ROOM, **more}, **(changes or {})})
    return dict(made.of_type(DEPLOYMENT)[f"igz-headroom/{pool}"])


def pod(deployment: dict[str, Any]) -> dict[str, Any]:
    return dict(deployment["spec"]["template"]["spec"])


def test_without_headroom_there_is_nothing_of_it() -> None:
    assert "igz-headroom" not in built().of_type(CLASS)
    assert "igz-headroom" not in built().of_type(NAMESPACE)
    command = built().of_type(DEPLOYMENT)["test-own-autoscaler"]["spec"]["template"]["spec"]["containers"][0]["command"]
    assert not any("bypassed" in each for each in command)


def test_no_scheduler_takes_them_and_the_autoscaler_knows_that() -> None:
    made = build({"pools.workload.headroom": ROOM})
    deployment = made.of_type(DEPLOYMENT)["igz-headroom/workload"]
    command = made.of_type(DEPLOYMENT)["test-own-autoscaler"]["spec"]["template"]["spec"]["containers"][0]["command"]
    assert f"--bypassed-scheduler-names={pod(deployment)['schedulerName']}" in command


def test_their_class_is_below_every_other_and_preempts_nothing() -> None:
    made = build({"pools.workload.headroom": ROOM})
    own = made.of_type(CLASS)["igz-headroom"]
    assert own["value"] < min(each["value"] for name, each in made.of_type(CLASS).items() if name != "igz-headroom")
    assert (own["value"], own["preemptionPolicy"], own["globalDefault"]) == (-1, "Never", False)
    assert pod(made.of_type(DEPLOYMENT)["igz-headroom/workload"])["priorityClassName"] == "igz-headroom"


def test_they_are_as_many_and_as_large_as_the_pool_says() -> None:
    deployment = placeholders("workload")
    (container,) = pod(deployment)["containers"]
    assert deployment["spec"]["replicas"] == 2
    assert container["resources"]["requests"] == {"cpu": "3", "memory": "12Gi"} == container["resources"]["limits"]
    assert pod(deployment)["nodeSelector"] == {"igz-clusters.io/pool": "workload"}
    assert "tolerations" not in pod(deployment)


def test_those_of_spot_and_gpu_pools_tolerate_the_taints_of_their_nodes() -> None:
    assert [each["key"] for each in pod(placeholders("spot"))["tolerations"]] == ["app.iguazio.com/lifecycle"]
    gpu = pod(placeholders("gpu", gpus=2))
    assert [each["key"] for each in gpu["tolerations"]] == ["nvidia.com/gpu"]
    assert gpu["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "2"


def test_no_run_waits_for_them() -> None:
    metadata = placeholders("workload")["metadata"]
    assert metadata["annotations"]["pulumi.com/skipAwait"] == "true"
    assert (metadata["name"], metadata["namespace"]) == ("workload", "igz-headroom")


def test_their_namespace_takes_nothing_but_restricted_pods() -> None:
    made = build({"pools.workload.headroom": ROOM})
    assert made.of_type(NAMESPACE)["igz-headroom"]["metadata"]["labels"] == {
        "pod-security.kubernetes.io/enforce": "restricted",
        "pod-security.kubernetes.io/warn": "restricted",
    }


@pytest.mark.parametrize(
    ("changes", "image"),
    [
        ({}, "registry.k8s.io/pause:3.10.2"),
        ({"cluster.imageRegistries": {"registry.k8s.io": "mirror.example.com"}}, "mirror.example.com/pause:3.10.2"),
    ],
)
def test_their_image_is_from_the_mirror_of_its_registry(changes: dict[str, Any], image: str) -> None:
    assert pod(placeholders("workload", changes))["containers"][0]["image"] == image


def test_each_pool_has_its_own() -> None:
    made = build({f"pools.{pool}.headroom": ROOM for pool in ("workload", "spot")})
    names = {name for name in made.of_type(DEPLOYMENT) if name.startswith("igz-headroom/")}
    assert names == {"igz-headroom/workload", "igz-headroom/spot"}
