"""Lines of MLRun CE's chart, and what the workloads of each accept.

Keys and their sources are recorded in ``tests/components/contract/mlrun_ce_keys.yaml``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

CHART: Final = "mlrun-ce"
REPOSITORY: Final = "https://mlrun.github.io/ce"
"""Helm repository of the chart."""

LAST_IN_FRONT: Final = ("mlrun-common-env", "mlrun-pipelines-config", "mlrun-spark-config")
"""ConfigMaps that the API reads before ``mlrun-override-env``; only the first must exist."""

CHART_SECRET: Final = "storage-credentials"  # noqa: S105 the name of a Secret
"""Secret that the chart itself creates for the object store, from its values."""


class ChartLine(StrEnum):
    """A line of the chart: its minor version."""

    V0_12 = "0.12"
    """MLRun 1.12; its values were read at MLRun 1.12.0-rc25."""

    V0_11 = "0.11"
    """MLRun 1.11; its values were read at MLRun 1.11.0-rc28."""

    @property
    def constraint(self) -> str:
        """Constraint of Helm's ``--version`` that all versions of the line meet, release candidates included."""
        return f"~{self}.0-0"

    @property
    def local_secret_key(self) -> str:
        """Path of the value with the secret key of the chart's own object store."""
        return f"storage.{'s3' if self is ChartLine.V0_11 else 'local'}.secretKey"


CURRENT: Final = ChartLine.V0_12


@dataclass(frozen=True)
class Workload:
    """A core service of the chart.

    Parameters
    ----------
    path
        Path of its values, keys joined by dots.
    labels
        Key below ``path`` of the pod's labels. Default: the chart has none.
    has_class
        Whether it has the value ``priorityClassName``.
    is_text
        Whether its selector is YAML in a string, which the sub-chart passes through ``tpl``.
    """

    path: str
    labels: str | None = None
    has_class: bool = True
    is_text: bool = False


_COMMON: Final = (
    Workload("nuclio.controller", "podLabels"),
    Workload("nuclio.dashboard", "podLabels"),
    Workload("mlrun.api", "podLabels"),
    Workload("mlrun.ui"),
    Workload("mlrun.db"),
    Workload("mpi-operator"),
    Workload("spark-operator.controller", "labels"),
    Workload("spark-operator.webhook", "labels"),
    Workload("kube-prometheus-stack.prometheusOperator", "podLabels", has_class=False),
    Workload("kube-prometheus-stack.grafana", "podLabels"),
    Workload("kube-prometheus-stack.kube-state-metrics", "customLabels", has_class=False),
    Workload("strimzi-kafka-operator", "labels"),
    Workload("timescaledb", has_class=False),
    Workload("pipelines", has_class=False),
)


def _seaweed(*parts: str) -> tuple[Workload, ...]:
    return tuple(Workload(f"seaweedfs.{part}", "podLabels", is_text=True) for part in parts)


WORKLOADS: Final[Mapping[ChartLine, tuple[Workload, ...]]] = {
    ChartLine.V0_12: (*_COMMON, *_seaweed("allInOne", "admin")),
    ChartLine.V0_11: (*_COMMON, *_seaweed("master", "volume", "filer", "s3", "admin")),
}
"""Core services that a value can place. Prometheus is not one: its operator creates it, without the right to mark."""

MADE_BY_OPERATORS: Final = ("kube-prometheus-stack.prometheus.prometheusSpec",)
"""Services whose pods an operator creates from these values."""

_VOLUMES: Final = (
    "mlrun.api.persistence.storageClass",
    "mlrun.db.persistence.storageClass",
    "jupyterNotebook.persistence.storageClass",
    "pipelines.persistence.storageClass",
    "timescaledb.persistence.storageClass",
    "kafka.storage.class",
    "kube-prometheus-stack.grafana.persistence.storageClassName",
    "seaweedfs.admin.data.storageClass",
)

STORAGE_CLASSES: Final[Mapping[ChartLine, tuple[str, ...]]] = {
    ChartLine.V0_12: (*_VOLUMES, "seaweedfs.allInOne.data.storageClass"),
    ChartLine.V0_11: (*_VOLUMES, "seaweedfs.master.data.storageClass", "seaweedfs.filer.data.storageClass"),
}
"""Values that name the storage class of a volume. Line 0.11's volume server takes it in a list."""

INGRESS_CLASSES: Final = (
    "nuclio.dashboard.ingress.ingressClassName",
    "nuclio.platform.kube.defaultHTTPIngressClassName",
    "jupyterNotebook.ingress.ingressClassName",
    "kube-prometheus-stack.grafana.ingress.ingressClassName",
    "seaweedfs.adminService.ingress.className",
)
"""Values that name the class of an ingress."""
