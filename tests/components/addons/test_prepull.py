"""Daemons that pull images early, as the API server will see them."""

from typing import Any

import pytest

from support import aks, eks

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
IMAGES = ["nvcr.io/nvidia/pytorch:25.06-py3", f"ghcr.io/acme/train@sha256:{'1' * 64}"]


def daemon(pool: str, kind: Any = eks) -> dict[str, Any]:
    made = kind.build({f"pools.{pool}.prepullImages": IMAGES})
    return dict(made.of_type(DAEMON_SET)[f"igz-prepull/{pool}"])


def pod(made: dict[str, Any]) -> dict[str, Any]:
    return dict(made["spec"]["template"]["spec"])


def test_without_images_there_is_no_daemon() -> None:
    assert not any(name.startswith("igz-prepull") for name in eks.built().of_type(DAEMON_SET))


@pytest.mark.parametrize("kind", [eks, aks])
def test_each_image_is_a_volume_that_nothing_runs(kind: Any) -> None:
    spec = pod(daemon("workload", kind))
    (container,) = spec["containers"]
    assert [each["image"]["reference"] for each in spec["volumes"]] == IMAGES
    assert {each["image"]["pullPolicy"] for each in spec["volumes"]} == {"IfNotPresent"}
    assert container["image"] == "registry.k8s.io/pause:3.10.2"
    mounted = {each["name"]: each["readOnly"] for each in container["volumeMounts"]}
    assert mounted == {each["name"]: True for each in spec["volumes"]}


def test_it_runs_on_the_nodes_of_its_pool_only_and_on_full_ones_too() -> None:
    spec = pod(daemon("workload"))
    assert spec["nodeSelector"] == {"igz-clusters.io/pool": "workload"}
    assert "tolerations" not in spec
    assert spec["priorityClassName"] == "system-node-critical"


def test_gpu_nodes_are_tolerated_though_it_uses_no_gpu() -> None:
    spec = pod(daemon("gpu"))
    assert [each["key"] for each in spec["tolerations"]] == ["nvidia.com/gpu"]
    assert "nvidia.com/gpu" not in spec["containers"][0]["resources"]["requests"]


def test_no_run_waits_for_gigabytes_and_all_nodes_pull_a_new_version_at_once() -> None:
    made = daemon("workload")
    assert made["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true"
    assert made["spec"]["updateStrategy"]["rollingUpdate"] == {"maxUnavailable": "100%"}
