"""The values of kube-prometheus-stack mean what the stack file says, alone and in MLRun CE's chart."""

from dataclasses import replace
from typing import Any

import pytest

from components.contract.systems import mlrun_ce
from components.contract.systems.monitoring import values
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices
from components.contract.taints import OWN_SPOT_TAINT, Taint
from support.platform_cluster import platform_cluster

PLAIN = SystemChoices(namespace="mlrun")
MADE = (("prometheus", "prometheusSpec"), ("alertmanager", "alertmanagerSpec"))


def content(cluster: PlatformCluster, choices: SystemChoices = PLAIN) -> dict[str, Any]:
    return values(cluster, choices).content


@pytest.mark.parametrize("places", [True, False])
def test_the_stack_in_mlrun_ce_is_told_the_same_about_its_pods(places: bool) -> None:
    cluster = platform_cluster(places=places)
    inside = mlrun_ce.values(cluster, PLAIN).content["kube-prometheus-stack"]
    own = content(cluster)
    assert {key: own[key] for key in inside if key not in ("prometheus", "grafana")}.items() <= inside.items()
    assert inside["prometheus"]["prometheusSpec"].items() <= own["prometheus"]["prometheusSpec"].items()
    assert inside.get("grafana", {}).items() <= own["grafana"].items()


@pytest.mark.parametrize(
    ("taint", "lifecycle"), [(OWN_SPOT_TAINT, {}), (None, {"app.iguazio.com/lifecycle": "non-preemptible"})]
)
def test_before_1_36_what_an_operator_makes_runs_on_demand_with_jobs(
    taint: Taint | None, lifecycle: dict[str, str]
) -> None:
    """Its operator may not mark it, so it is no core service; without a lifecycle it could land on spot nodes."""
    found = content(platform_cluster(places=False, spot_taint=taint))
    for part, spec in MADE:
        assert found[part][spec]["nodeSelector"] == {"igz-clusters.io/role": "workload", **lifecycle}


@pytest.mark.parametrize("places", [True, False])
def test_what_an_operator_makes_has_the_highest_class_that_it_may_have(places: bool) -> None:
    found = content(platform_cluster(places=places))
    assert {found[part][spec]["priorityClassName"] for part, spec in MADE} == {"igz-workload-high"}


def test_from_1_36_on_admission_places_services_and_daemon() -> None:
    found = str(content(platform_cluster()))
    assert "nodeSelector" not in found
    assert "igz-clusters.io" not in found


def test_before_1_36_node_exporter_is_marked_because_it_uses_its_node() -> None:
    exporter = content(platform_cluster(places=False))["prometheus-node-exporter"]
    assert exporter["podLabels"] == {"igz-clusters.io/core-service": "true"}
    assert exporter["priorityClassName"] == "igz-system-medium"
    assert "tolerations" not in exporter, "the chart's own ones reach every node"


def test_metrics_and_dashboards_outlive_their_pods() -> None:
    found = content(platform_cluster(), replace(PLAIN, storage_class="ssd", ingress_class="a"))
    claim = found["prometheus"]["prometheusSpec"]["storageSpec"]["volumeClaimTemplate"]["spec"]
    assert claim["storageClassName"] == "ssd"
    assert found["grafana"]["persistence"] == {"enabled": True, "storageClassName": "ssd"}
    assert found["grafana"]["deploymentStrategy"] == {"type": "Recreate"}, "two pods cannot hold one volume"
    assert found["grafana"]["ingress"] == {"ingressClassName": "a"}


def test_what_prometheus_must_reach_is_noted() -> None:
    assert any(
        "namespaces.mlrun.egress" in note and "10250" in note for note in values(platform_cluster(), PLAIN).notes
    )
