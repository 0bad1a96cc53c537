"""The values of MLRun CE's chart: each key is one that the chart has, and they mean what the stack file says."""

from dataclasses import replace
from itertools import product
from typing import Any, Final

import pytest
import yaml

from components.contract.environments import Environment
from components.contract.groups import resolve_groups
from components.contract.pod_resources import DEFAULT_POD_RESOURCES
from components.contract.pools import NodePool
from components.contract.quantities import parse_quantity
from components.contract.systems.mlrun_ce import CORE_CONTAINERS, initial_group_problem, problem, values
from components.contract.systems.mlrun_ce_chart import ADMIN_PASSWORD, ChartLine
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import ObjectStore, SystemChoices, tree
from components.contract.taints import OWN_SPOT_TAINT
from support.kit import shapes
from support.platform_cluster import POOLS, platform_cluster
from support.recorded_keys import unknown
from workbench.system.paths import PROJECT_ROOT

SYSTEM: Final = "mlrun-ce"
PLAIN: Final = SystemChoices(namespace="mlrun")
FULL: Final = SystemChoices(
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


def chart_values(cluster: PlatformCluster, choices: SystemChoices) -> dict[str, Any]:
    return values(cluster, choices).content


@pytest.mark.parametrize(("line", "places", "store"), list(product(ChartLine, [False, True], STORES)))
def test_every_key_is_one_of_the_chart(line: ChartLine, places: bool, store: dict[str, Any]) -> None:
    choices = replace(FULL, chart=line, ingress_class="nginx", **store)
    if not problem(choices):
        assert unknown(chart_values(platform_cluster(places=places), choices), SYSTEM, line) == []


def test_a_key_that_the_chart_does_not_have_is_noticed() -> None:
    assert unknown({"mlrun": {"api": {"nodeSelectors": {"a": "b"}}}}, SYSTEM, ChartLine.V0_12) == [
        "mlrun.api.nodeSelectors.a"
    ]
    assert unknown({"seaweedfs": {"allInOne": {"nodeSelector": "a: b"}}}, SYSTEM, ChartLine.V0_11) != []


def test_from_1_36_on_nothing_is_placed_but_notebooks() -> None:
    found = chart_values(platform_cluster(), PLAIN)
    assert found["jupyterNotebook"] == {"nodeSelector": {"igz-clusters.io/role": "jupyter"}}
    assert "nodeSelector" not in found["mlrun"]["api"]
    assert "pipelines" not in found


def test_before_1_36_core_services_get_place_class_and_mark() -> None:
    found = chart_values(platform_cluster(places=False), PLAIN)
    api = found["mlrun"]["api"]
    assert api["nodeSelector"] == {"igz-clusters.io/role": "initial"}
    assert api["priorityClassName"] == "igz-system-medium"
    assert api["podLabels"] == {"igz-clusters.io/core-service": "true"}
    assert found["nuclio"]["dashboard"] == {"nodeSelector": {"igz-clusters.io/role": "initial"}}
    assert found["seaweedfs"]["allInOne"]["nodeSelector"] == "igz-clusters.io/role: initial"


def test_the_database_does_not_require_the_node_of_the_api() -> None:
    (affinity,) = chart_values(platform_cluster(), PLAIN)["mlrun"]["db"]["affinity"].values()
    assert list(affinity) == ["preferredDuringSchedulingIgnoredDuringExecution"]


@pytest.mark.parametrize("places", [True, False])
def test_node_exporter_runs_on_every_version(places: bool) -> None:
    assert "nodeExporter" not in chart_values(platform_cluster(places=places), PLAIN)["kube-prometheus-stack"]


def test_node_exporter_does_not_get_the_namespace_s_defaults_on_every_node() -> None:
    amounts = chart_values(platform_cluster(), PLAIN)["kube-prometheus-stack"]["prometheus-node-exporter"]["resources"]
    assert amounts["requests"] == amounts["limits"]
    assert parse_quantity(amounts["requests"]["cpu"]) < parse_quantity("500m")


def test_without_a_pool_of_their_own_notebooks_run_with_jobs() -> None:
    found = chart_values(platform_cluster("notebooks"), PLAIN)
    assert found["jupyterNotebook"]["nodeSelector"] == {"igz-clusters.io/role": "workload"}


def test_notebooks_ask_for_on_demand_nodes_where_no_taint_keeps_them_off_spot() -> None:
    found = chart_values(platform_cluster("notebooks", spot_taint=None), PLAIN)
    assert found["jupyterNotebook"]["nodeSelector"] == {
        "igz-clusters.io/role": "workload",
        "app.iguazio.com/lifecycle": "non-preemptible",
    }


def test_nuclio_gets_the_settings_of_spot_nodes_only_with_a_spot_pool() -> None:
    kube = chart_values(platform_cluster(), PLAIN)["nuclio"]["platform"]["kube"]
    assert kube["preemptibleNodes"] == {
        "defaultMode": "prevent",
        "nodeSelector": {"app.iguazio.com/lifecycle": "preemptible"},
        "tolerations": [OWN_SPOT_TAINT.toleration()],
    }
    assert "preemptibleNodes" not in chart_values(platform_cluster("spot"), PLAIN)["nuclio"]["platform"]["kube"]


def test_the_api_restarts_when_its_settings_change_and_only_then() -> None:
    def checksum(each: PlatformCluster) -> str:
        return str(chart_values(each, PLAIN)["mlrun"]["api"]["extraEnvKeyValue"]["IGZ_CLUSTERS_SETTINGS"])

    assert checksum(platform_cluster()) == checksum(platform_cluster()) == checksum(platform_cluster("notebooks"))
    assert checksum(platform_cluster()) != checksum(platform_cluster("spot"))


@pytest.mark.parametrize("store", STORES[2:], ids=["s3", "azure"])
def test_credentials_are_named_and_the_override_is_read_last(store: dict[str, Any]) -> None:
    mlrun = chart_values(platform_cluster(), replace(PLAIN, **store))["mlrun"]
    assert mlrun["storageAutoMountParams"] == "secret_name=keys"
    sources = mlrun["api"]["envFrom"]
    assert sources[1] == {"secretRef": {"name": "keys"}}
    assert sources[-1] == {"configMapRef": {"name": "mlrun-override-env", "optional": True}}


def test_s3_without_a_secret_uses_the_identity_of_the_pods() -> None:
    found = chart_values(platform_cluster(), replace(PLAIN, **STORES[1]))
    assert found["global"]["infrastructure"]["aws"] == {"s3NonAnonymous": True}
    assert found["mlrun"]["storageAutoMountParams"] == "non_anonymous=True"


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"store": ObjectStore.S3}, "--store s3 needs --bucket"),
        ({"store": ObjectStore.AZURE, "bucket": "a"}, "--store azure needs --storage-secret"),
        ({"store": ObjectStore.S3, "bucket": "a", "chart": ChartLine.V0_11}, "chart 0.11 sends"),
        ({"storage_secret": "a"}, "--storage-secret needs --store s3 or --store azure"),
    ],
)
def test_what_cannot_be_is_said(change: dict[str, Any], wrong: str) -> None:
    assert str(problem(replace(PLAIN, **change))).startswith(wrong)


def test_line_0_11_calls_its_own_object_store_s3() -> None:
    modes = {
        line: chart_values(platform_cluster(), replace(PLAIN, chart=line))["storage"]["mode"] for line in ChartLine
    }
    assert modes == {ChartLine.V0_12: "local", ChartLine.V0_11: "s3"}


def test_an_initial_group_that_is_too_small_for_the_core_services_is_noted() -> None:
    prod = replace(platform_cluster(), pod_resources=DEFAULT_POD_RESOURCES[Environment.PROD])

    def lacks(nodes: int) -> str | None:
        pool = NodePool.model_validate(POOLS["initial"] | {"size": {"min": nodes, "max": nodes}})
        return initial_group_problem(replace(prod, groups=resolve_groups({"initial": pool})))

    assert lacks(4) is None
    assert lacks(3) == (
        "core services request about 23 CPU by default, and of the initial group's 24 about 22.5 remain besides its "
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


def test_the_values_of_your_own_that_the_page_and_the_notes_name_exist() -> None:
    page = (PROJECT_ROOT / "docs/mlrun-ce.md").read_text()
    own = yaml.safe_load(page[page.index("```yaml\njupyterNotebook:") :].split("```")[1].removeprefix("yaml"))
    assert unknown(own, SYSTEM, ChartLine.V0_12) == []
    for line in ChartLine:
        assert unknown(tree({line.local_secret_key: "a", ADMIN_PASSWORD: "b"}), SYSTEM, line) == []
