"""The values of MLRun CE's chart: each key is one that the chart has, and they mean what the stack file says."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from components.contract.environments import Environment
from components.contract.groups import resolve_groups
from components.contract.mlrun_ce_chart import ChartLine
from components.contract.mlrun_ce_values import (
    CORE_CONTAINERS,
    ChartChoices,
    ChartCluster,
    ObjectStore,
    chart_values,
    initial_group_problem,
)
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.pools import NodePool
from components.contract.quantities import parse_quantity
from components.contract.taints import OWN_SPOT_TAINT
from support.kit import shapes

RECORDED: Final = yaml.safe_load((Path(__file__).parent / "mlrun_ce_keys.yaml").read_text())
MACHINES: Final = ["m6i.2xlarge"]
POOLS: Final = {
    "initial": {"role": "initial", "size": {"min": 3, "max": 3}, "instanceTypes": MACHINES},
    "work": {"role": "workload", "size": {"min": 0, "max": 9}, "instanceTypes": MACHINES},
    "spot": {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 9}, "instanceTypes": MACHINES},
    "notebooks": {"role": "jupyter", "size": {"min": 0, "max": 9}, "instanceTypes": MACHINES},
}


def cluster(*without: str, places: bool = True) -> ChartCluster:
    pools = {name: NodePool.model_validate(each) for name, each in POOLS.items() if name not in without}
    groups = resolve_groups(pools, OWN_SPOT_TAINT)
    resources = DEFAULT_POD_RESOURCES[Environment.DEV]
    return ChartCluster(groups=groups, spot_taint=OWN_SPOT_TAINT, pod_resources=resources, places_by_itself=places)


PLAIN: Final = ChartChoices(namespace="mlrun")
FULL: Final = ChartChoices(
    namespace="mlrun",
    registry="registry.example.com/mlrun",
    registry_secret="pull",  # noqa: S106 a name
    storage_class="ssd",
)
STORES: Final = (
    {},
    {"store": ObjectStore.S3, "bucket": "artifacts"},
    {"store": ObjectStore.S3, "bucket": "artifacts", "storage_secret": "keys"},
    {"store": ObjectStore.AZURE, "bucket": "artifacts", "storage_secret": "keys"},
)


def recorded(line: ChartLine) -> tuple[set[str], set[str]]:
    """Return the keys of a line, and the maps whose keys are the user's."""
    keys = [key for source in (*RECORDED["common"], *RECORDED[line]) for key in source["keys"]]
    return {key for key in keys if not key.endswith(".*")}, {key.removesuffix(".*") for key in keys if ".*" in key}


def unknown(values: dict[str, Any], line: ChartLine) -> list[str]:
    """Return the keys that a line of the chart does not have."""
    leaves, maps = recorded(line)

    def below(value: Any, path: str) -> Iterator[str]:
        if path in maps or path in leaves:
            return
        if isinstance(value, dict):
            for key, each in value.items():
                yield from below(each, f"{path}.{key}" if path else key)
        else:
            yield path

    return list(below(values, ""))


@pytest.mark.parametrize(("line", "places", "store"), list(product(ChartLine, [False, True], STORES)))
def test_every_key_is_one_of_the_chart(line: ChartLine, places: bool, store: dict[str, Any]) -> None:
    choices = replace(FULL, line=line, ingress_class="nginx", **store)
    if not choices.problem:
        assert unknown(chart_values(cluster(places=places), choices), line) == []


def test_a_key_that_the_chart_does_not_have_is_noticed() -> None:
    assert unknown({"mlrun": {"api": {"nodeSelectors": {"a": "b"}}}}, ChartLine.V0_12) == ["mlrun.api.nodeSelectors.a"]
    assert unknown({"seaweedfs": {"allInOne": {"nodeSelector": "a: b"}}}, ChartLine.V0_11) != []


def test_every_recorded_key_has_a_source() -> None:
    for source in (each for sources in RECORDED.values() for each in sources):
        assert {"repository", "path", "keys"} <= source.keys()
        assert "assumed" in source or "commit" in source, source


def test_from_1_36_on_nothing_is_placed_but_notebooks() -> None:
    values = chart_values(cluster(), PLAIN)
    assert values["jupyterNotebook"] == {"nodeSelector": {"igz-clusters.io/role": "jupyter"}}
    assert "nodeSelector" not in values["mlrun"]["api"]
    assert "pipelines" not in values


def test_before_1_36_core_services_get_place_class_and_mark() -> None:
    values = chart_values(cluster(places=False), PLAIN)
    assert values["nuclio"]["dashboard"] == {
        "nodeSelector": {"igz-clusters.io/role": "initial"},
        "priorityClassName": "igz-system-medium",
        "podLabels": {"igz-clusters.io/core-service": "true"},
    }
    assert values["seaweedfs"]["allInOne"]["nodeSelector"] == "igz-clusters.io/role: initial"
    prometheus = values["kube-prometheus-stack"]["prometheus"]["prometheusSpec"]
    assert prometheus["nodeSelector"] == {"igz-clusters.io/user-workloads": "true"}


def test_the_database_does_not_require_the_node_of_the_api() -> None:
    (affinity,) = chart_values(cluster(), PLAIN)["mlrun"]["db"]["affinity"].values()
    assert list(affinity) == ["preferredDuringSchedulingIgnoredDuringExecution"]


def test_node_exporter_runs_where_admission_marks_daemons_of_core_services() -> None:
    assert "nodeExporter" not in chart_values(cluster(), PLAIN)["kube-prometheus-stack"]
    before = chart_values(cluster(places=False), PLAIN)["kube-prometheus-stack"]
    assert before["nodeExporter"] == {"enabled": False}


def test_node_exporter_does_not_get_the_namespace_s_defaults_on_every_node() -> None:
    amounts = chart_values(cluster(), PLAIN)["kube-prometheus-stack"]["prometheus-node-exporter"]["resources"]
    assert amounts["requests"] == amounts["limits"]
    assert parse_quantity(amounts["requests"]["cpu"]) < parse_quantity("500m")


def test_without_a_pool_of_their_own_notebooks_run_with_jobs() -> None:
    values = chart_values(cluster("notebooks"), PLAIN)
    assert values["jupyterNotebook"]["nodeSelector"] == {"igz-clusters.io/role": "workload"}


def test_nuclio_gets_the_settings_of_spot_nodes_only_with_a_spot_pool() -> None:
    kube = chart_values(cluster(), PLAIN)["nuclio"]["platform"]["kube"]
    assert kube["preemptibleNodes"] == {
        "defaultMode": "prevent",
        "nodeSelector": {"app.iguazio.com/lifecycle": "preemptible"},
        "tolerations": [OWN_SPOT_TAINT.toleration()],
    }
    assert "preemptibleNodes" not in chart_values(cluster("spot"), PLAIN)["nuclio"]["platform"]["kube"]


def test_the_api_restarts_when_its_settings_change_and_only_then() -> None:
    def checksum(each: ChartCluster) -> str:
        return str(chart_values(each, PLAIN)["mlrun"]["api"]["extraEnvKeyValue"]["IGZ_CLUSTERS_SETTINGS"])

    assert checksum(cluster()) == checksum(cluster()) == checksum(cluster("notebooks"))
    assert checksum(cluster()) != checksum(cluster("spot"))


@pytest.mark.parametrize("store", STORES[2:], ids=["s3", "azure"])
def test_credentials_are_named_and_the_override_is_read_last(store: dict[str, Any]) -> None:
    mlrun = chart_values(cluster(), replace(PLAIN, **store))["mlrun"]
    assert mlrun["storageAutoMountParams"] == "secret_name=keys"
    sources = mlrun["api"]["envFrom"]
    assert sources[1] == {"secretRef": {"name": "keys"}}
    assert sources[-1] == {"configMapRef": {"name": "mlrun-override-env", "optional": True}}


def test_s3_without_a_secret_uses_the_identity_of_the_pods() -> None:
    values = chart_values(cluster(), replace(PLAIN, **STORES[1]))
    assert values["global"]["infrastructure"]["aws"] == {"s3NonAnonymous": True}
    assert values["mlrun"]["storageAutoMountParams"] == "non_anonymous=True"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"store": ObjectStore.S3}, "--store s3 needs --bucket"),
        ({"store": ObjectStore.AZURE, "bucket": "a"}, "--store azure needs --storage-secret"),
        ({"store": ObjectStore.S3, "bucket": "a", "line": ChartLine.V0_11}, "chart 0.11 sends"),
        ({"storage_secret": "a"}, "--storage-secret needs --store s3 or --store azure"),
    ],
)
def test_what_cannot_be_is_said(change: dict[str, Any], problem: str) -> None:
    assert str(replace(PLAIN, **change).problem).startswith(problem)


def test_line_0_11_calls_its_own_object_store_s3() -> None:
    modes = {line: chart_values(cluster(), replace(PLAIN, line=line))["storage"]["mode"] for line in ChartLine}
    assert modes == {ChartLine.V0_12: "local", ChartLine.V0_11: "s3"}


def test_an_initial_group_that_is_too_small_for_the_core_services_is_noted() -> None:
    prod = replace(cluster(), pod_resources=DEFAULT_POD_RESOURCES[Environment.PROD])

    def problem(nodes: int) -> str | None:
        pool = NodePool.model_validate(POOLS["initial"] | {"size": {"min": nodes, "max": nodes}})
        return initial_group_problem(replace(prod, groups=resolve_groups({"initial": pool})))

    assert problem(4) is None
    assert problem(3) == (
        "core services request about 23 CPU by default, and of the initial group's 24 about 22.5 remain beside its "
        "daemons; add nodes"
    )


def test_as_many_containers_are_counted_as_the_kit_has() -> None:
    def without(containers: list[dict[str, Any]]) -> int:
        return sum("cpu" not in each.get("resources", {}).get("requests", {}) for each in containers)

    pods = [
        shape.entry["pod"]
        for shape in shapes().values()
        if shape.file == "chart" and "pod" in shape.entry and shape.entry["kind"] != "DaemonSet"
        if "jupyter" not in shape.name
    ]
    # Of init containers one runs at a time, and none beside the others.
    counted = sum(max(without(pod["containers"]), min(without(pod.get("initContainers", [])), 1)) for pod in pods)
    assert counted == CORE_CONTAINERS
