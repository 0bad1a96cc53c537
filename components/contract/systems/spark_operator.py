"""The operator of Spark applications: values of its own chart, which MLRun CE's chart contains too."""

from collections.abc import Iterator
from typing import Any, Final

from components.contract.systems.core_services import CoreService, placement
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues, helm_command, tree

CHART: Final = "spark-operator"
LINE: Final = "2.5"
"""Minor version of the chart and the operator."""

REPOSITORY: Final = "https://kubeflow.github.io/spark-operator"
"""Helm repository of the chart."""

SERVICES: Final = (CoreService("controller", "labels"), CoreService("webhook", "labels"))
"""The operator's own services."""

_ACCOUNT: Final = "sparkapp"
"""Service account of Spark's drivers in MLRun CE's chart (mlrun/ce 44ef417e, ``values.yaml``)."""


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the values of the chart.

    Its webhook, on by default, must stay on: it adds tolerations, affinity and class to Spark's pods, which Spark
    itself cannot do (kubeflow/spark-operator v2.5.2, ``internal/webhook/sparkpod_defaulter.go``).
    """
    flat: dict[str, Any] = {
        "spark.jobNamespaces": [choices.namespace],  # the chart's default is the namespace default
        "spark.serviceAccount.name": _ACCOUNT,
        **dict(account_settings(cluster)),
    }
    if not cluster.places_by_itself:
        flat |= dict(placement(SERVICES))
    command = helm_command(CHART, CHART, REPOSITORY, f"~{LINE}.0", choices.namespace)
    return SystemValues(content=tree(flat), notes=_NOTES, next=command)


def account_settings(cluster: PlatformCluster) -> Iterator[tuple[str, Any]]:
    """Yield the value that stops the chart from creating the drivers' account, if this stack creates it."""
    if _ACCOUNT in cluster.job_accounts:
        yield "spark.serviceAccount.create", False


_NOTES: Final = (
    "MLRun CE's chart contains the operator: with MLRun CE use --for mlrun-ce, not these values",
    "MLRun before 1.8 sets the priority class in a field that this operator ignores; its Spark pods then have none",
)
