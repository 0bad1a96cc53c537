from collections.abc import Callable
from typing import Any

import pytest

from components.addons.gpu_metrics import METRICS
from support import aks, eks
from support.recorder import Recorder

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
NAME = "test-own-gpu-metrics"
ON: dict[str, Any] = {"cluster.gpu": {"metrics": True}}

clouds = pytest.mark.parametrize("build", [eks.build, aks.build], ids=["eks", "aks"])


@clouds
def test_it_runs_on_gpu_nodes_only_if_it_is_wanted(build: Callable[..., Recorder]) -> None:
    assert NAME not in build().of_type(DAEMON_SET)
    pod = build(ON).of_type(DAEMON_SET)[NAME]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"igz-clusters.io/role": "gpu"}
    assert [each["key"] for each in pod["tolerations"]] == ["nvidia.com/gpu"]


@clouds
def test_without_gpus_there_is_nothing_to_measure(build: Callable[..., Recorder]) -> None:
    assert NAME not in build({**ON, "pools.gpu": None}).of_type(DAEMON_SET)


def test_it_leaves_out_nodes_whose_gpus_are_shared() -> None:
    turns = {
        "role": "gpu",
        "size": {"min": 0, "max": 2},
        "instanceTypes": ["g5.2xlarge"],
        "sharing": {"mode": "time-slicing", "replicas": 4},
    }
    assert NAME not in eks.build({**ON, "pools.gpu": None, "pools.turns": turns}).of_type(DAEMON_SET)
    pod = eks.build({**ON, "pools.turns": turns}).of_type(DAEMON_SET)[NAME]["spec"]["template"]["spec"]
    assert [each["key"] for each in pod["tolerations"]] == ["nvidia.com/gpu"]
    wanted = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert wanted == [{"matchExpressions": [{"key": "igz-clusters.io/gpu-sharing", "operator": "DoesNotExist"}]}]


def test_it_has_no_rights_and_leaves_the_profiler_to_others() -> None:
    recorder = eks.build(ON)
    (container,) = recorder.of_type(DAEMON_SET)[NAME]["spec"]["template"]["spec"]["containers"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not [name for name in METRICS if "_PROF_" in name]
    table = recorder.of_type("kubernetes:core/v1:ConfigMap")[f"{NAME}-metrics"]["data"]["metrics.csv"]
    rows = [line.split(", ") for line in table.splitlines()]
    assert [row[0] for row in rows] == list(METRICS)
    assert {len(row) for row in rows} == {3}
    assert {row[1] for row in rows} == {"gauge", "counter"}


def test_a_prometheus_finds_it() -> None:
    template = eks.build(ON).of_type(DAEMON_SET)[NAME]["spec"]["template"]
    assert template["metadata"]["annotations"] == {"prometheus.io/scrape": "true", "prometheus.io/port": "9400"}
    assert template["spec"]["containers"][0]["ports"] == [{"name": "metrics", "containerPort": 9400}]


@clouds
def test_images_come_from_their_mirror_and_the_plug_in_has_the_version_of_the_stack_file(
    build: Callable[..., Recorder],
) -> None:
    mirror = {"nvcr.io": "mirror.example.com"}
    recorder = build({"cluster.gpu": {"metrics": True, "devicePlugin": "v0.18.2"}, "cluster.imageRegistries": mirror})
    images = {
        name: each["spec"]["template"]["spec"]["containers"][0]["image"]
        for name, each in recorder.of_type(DAEMON_SET).items()
    }
    assert images["test-own-device-plugin"] == "mirror.example.com/nvidia/k8s-device-plugin:v0.18.2"
    assert images[NAME].startswith("mirror.example.com/nvidia/k8s/dcgm-exporter:")
