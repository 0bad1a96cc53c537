"""Lines of MLRun CE's chart, and the values that the workloads of each accept.

Keys and their sources are recorded in ``tests/components/contract/systems/mlrun-ce_keys.yaml``.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from components.contract.systems import nuclio
from components.contract.systems.core_services import CoreService, within

CHART: Final = "mlrun-ce"
REPOSITORY: Final = "https://mlrun.github.io/ce"
"""Helm repository of the chart."""

LAST_IN_FRONT: Final = ("mlrun-common-env", "mlrun-pipelines-config", "mlrun-spark-config")
"""ConfigMaps that the API reads before ``mlrun-override-env``; only the first must exist."""

CHART_SECRET: Final = "storage-credentials"  # noqa: S105 the name of a Secret
"""Secret that the chart itself creates for the object store, from its values."""


ADMIN_PASSWORD: Final = "seaweedfs.admin.secret.adminPassword"  # noqa: S105 the path of a value
"""Path of the password of the object store's administration."""


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


_COMMON: Final = (
    *within("nuclio", nuclio.SERVICES),
    CoreService("mlrun.api", "podLabels"),
    CoreService("mlrun.ui"),
    CoreService("mlrun.db"),
    CoreService("mpi-operator"),
    CoreService("spark-operator.controller", "labels"),
    CoreService("spark-operator.webhook", "labels"),
    CoreService("strimzi-kafka-operator", "labels"),
    CoreService("timescaledb"),
    CoreService("pipelines"),
)


def _seaweed(*parts: str) -> tuple[CoreService, ...]:
    return tuple(CoreService(f"seaweedfs.{part}", "podLabels", is_text=True) for part in parts)


WORKLOADS: Final[Mapping[ChartLine, tuple[CoreService, ...]]] = {
    ChartLine.V0_12: (*_COMMON, *_seaweed("allInOne", "admin")),
    ChartLine.V0_11: (*_COMMON, *_seaweed("master", "volume", "filer", "s3", "admin")),
}
"""Core services that a value can place, besides those of ``monitoring``."""

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
"""Values that name the storage class of a volume. The volume server of line 0.11 has it in a list."""

INGRESS_CLASSES: Final = (
    *(f"nuclio.{path}" for path in nuclio.INGRESS_CLASSES),
    "jupyterNotebook.ingress.ingressClassName",
    "kube-prometheus-stack.grafana.ingress.ingressClassName",
    "seaweedfs.adminService.ingress.className",
)
"""Values that name the class of an ingress."""

EXPOSED_SERVICES: Final = (
    "mlrun.api.service",
    "mlrun.ui.service",
    "jupyterNotebook.service",
    "kube-prometheus-stack.grafana.service",
)
"""Values of Services that are NodePorts by default in the chart, and that clients reach through an Ingress."""
