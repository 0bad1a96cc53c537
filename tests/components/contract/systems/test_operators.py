"""The operators of Spark and MPI jobs, and Presto: their charts' values mean what the stack file says."""

from dataclasses import replace
from typing import Any

import pytest

from components.contract.systems import mlrun_ce, mpi_operator, nuclio, presto, spark_operator
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices
from support.platform_cluster import platform_cluster

CHOICES = SystemChoices(namespace="jobs")
INITIAL = {"igz-clusters.io/role": "initial"}


def spark(cluster: PlatformCluster) -> dict[str, Any]:
    return spark_operator.values(cluster, CHOICES).content


def test_spark_watches_the_namespace_of_the_release_with_the_account_that_its_drivers_use() -> None:
    assert spark(platform_cluster()) == {
        "spark": {"jobNamespaces": ["jobs"], "serviceAccount": {"name": "sparkapp"}},
    }


def test_the_chart_leaves_the_account_of_drivers_to_a_stack_that_gives_it_a_cloud_identity() -> None:
    cluster = replace(platform_cluster(), job_accounts=("igz-jobs", "sparkapp"))
    assert spark(cluster)["spark"]["serviceAccount"] == {"name": "sparkapp", "create": False}
    assert mlrun_ce.values(cluster, CHOICES).content["spark-operator"]["spark"]["serviceAccount"] == {"create": False}
    assert "serviceAccount" not in mlrun_ce.values(platform_cluster(), CHOICES).content["spark-operator"]["spark"]


def test_functions_of_nuclio_and_mlrun_have_the_account_with_the_cloud_identity() -> None:
    cluster = replace(platform_cluster(), job_accounts=("igz-jobs",))
    assert nuclio.platform_settings(cluster)["defaultFunctionServiceAccount"] == "igz-jobs"
    assert "defaultFunctionServiceAccount" not in nuclio.platform_settings(platform_cluster())
    # MLRun's API starts anew when the account changes.
    assert mlrun_ce.settings_checksum(cluster) != mlrun_ce.settings_checksum(platform_cluster())


@pytest.mark.parametrize("service", ["controller", "webhook"])
def test_before_1_36_the_services_of_spark_get_place_class_and_mark(service: str) -> None:
    assert spark(platform_cluster(places=False))[service] == {
        "nodeSelector": INITIAL,
        "priorityClassName": "igz-system-medium",
        "labels": {"igz-clusters.io/core-service": "true"},
    }


def test_the_mpi_operator_gets_a_place_but_no_class_because_its_chart_has_no_labels_for_the_mark() -> None:
    after, before = (mpi_operator.values(platform_cluster(places=each), CHOICES).content for each in (True, False))
    assert after == {"crd": {"create": True}, "rbac": {"clusterResources": {"create": True}}}
    assert before == {**after, "nodeSelector": INITIAL}


def test_presto_stays_off_spot_nodes_with_and_without_a_taint() -> None:
    tainted, open_spot = (
        presto.values(cluster, CHOICES).content["nodeSelector"]
        for cluster in (platform_cluster(), platform_cluster(spot_taint=None))
    )
    assert tainted == {"igz-clusters.io/role": "workload"}
    assert open_spot == {"igz-clusters.io/role": "workload", "app.iguazio.com/lifecycle": "non-preemptible"}
