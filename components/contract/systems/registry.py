"""The systems for which values can be derived."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from components.contract.environments import PlatformProfile
from components.contract.systems import (
    app_services,
    ingress,
    jupyterhub,
    mlrun_ce,
    monitoring,
    mpi_operator,
    nuclio,
    pipelines,
    presto,
    spark_operator,
)
from components.contract.systems.mlrun_ce_chart import CHART, CURRENT, ChartLine
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues
from components.contract.systems.ways_in_charts import EXTERNAL_DNS, LOAD_BALANCER_CONTROLLER, WaysInChart


class System(StrEnum):
    """A system that runs on the cluster."""

    MLRUN_CE = "mlrun-ce"
    NUCLIO = "nuclio"
    PIPELINES = "pipelines"
    MONITORING = "monitoring"
    JUPYTERHUB = "jupyterhub"
    SPARK_OPERATOR = "spark-operator"
    MPI_OPERATOR = "mpi-operator"
    PRESTO = "presto"
    APP_SERVICES = "app-services"
    INGRESS = "ingress"
    AWS_LOAD_BALANCER_CONTROLLER = "aws-load-balancer-controller"
    EXTERNAL_DNS = "external-dns"


def _anything_goes(_: SystemChoices) -> None:
    return None


def _nothing_lacks(_: PlatformCluster) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Derivation:
    """How the values of a system are derived, and what they depend on.

    Parameters
    ----------
    what
        Title of the output, such as ``Values for chart mlrun-ce``.
    values
        Derives the values.
    options
        Fields of ``SystemChoices``, besides the namespace, that it reads.
    charts
        Supported minor versions of the chart, the current one first. Default: there is no chart.
    profiles
        Profiles of platforms on which it can run. Default: all.
    needs_core_services
        Whether its namespace is one of the stack with core services. Default: it may be any.
    namespace
        Its only namespace. Default: it runs in one of the stack's.
    problem
        Returns the problem of the choices, or None. Default: always None.
    lack
        Returns what the cluster lacks for it, or None. Default: always None.
    """

    what: str
    values: Callable[[PlatformCluster, SystemChoices], SystemValues]
    options: frozenset[str] = frozenset()
    charts: tuple[str, ...] = ()
    profiles: tuple[PlatformProfile, ...] = tuple(PlatformProfile)
    needs_core_services: bool = False
    namespace: str = ""
    problem: Callable[[SystemChoices], str | None] = _anything_goes
    lack: Callable[[PlatformCluster], str | None] = _nothing_lacks


def _opening(chart: WaysInChart) -> Derivation:
    return Derivation(
        what=f"Values for chart {chart.name}",
        values=chart.values,
        charts=(chart.line,),
        profiles=(PlatformProfile.MLRUN_CE,),
        namespace=chart.namespace,
        lack=chart.lack,
    )


SYSTEMS: Final[Mapping[System, Derivation]] = {
    System.MLRUN_CE: Derivation(
        what=f"Values for chart {CHART}",
        values=mlrun_ce.values,
        options=frozenset(
            ("registry", "registry_secret", "store", "bucket", "storage_secret", "storage_class", "ingress_class")
        ),
        charts=(CURRENT.value, *(line.value for line in ChartLine if line is not CURRENT)),
        profiles=(PlatformProfile.MLRUN_CE,),
        needs_core_services=True,
        problem=mlrun_ce.problem,
    ),
    System.NUCLIO: Derivation(
        what=f"Settings for chart {nuclio.CHART}",
        values=nuclio.values,
        options=frozenset(("registry", "registry_secret", "ingress_class")),
        charts=(nuclio.LINE,),
        needs_core_services=True,
    ),
    System.PIPELINES: Derivation(
        what="Settings of Kubeflow Pipelines",
        values=pipelines.values,
        options=frozenset(("storage_class",)),
        profiles=(PlatformProfile.MLRUN_CE,),
        needs_core_services=True,
    ),
    System.MONITORING: Derivation(
        what=f"Values for chart {monitoring.CHART}",
        values=monitoring.values,
        options=frozenset(("storage_class", "ingress_class")),
        charts=(monitoring.LINE,),
        profiles=(PlatformProfile.MLRUN_CE,),
        needs_core_services=True,
    ),
    System.JUPYTERHUB: Derivation(
        what=f"Values for chart {jupyterhub.CHART}",
        values=jupyterhub.values,
        options=frozenset(("storage_class", "ingress_class")),
        charts=(jupyterhub.LINE,),
        profiles=(PlatformProfile.MLRUN_CE,),
        needs_core_services=True,
    ),
    System.SPARK_OPERATOR: Derivation(
        what=f"Values for chart {spark_operator.CHART}",
        values=spark_operator.values,
        charts=(spark_operator.LINE,),
        profiles=(PlatformProfile.MLRUN_CE,),
        needs_core_services=True,
    ),
    System.MPI_OPERATOR: Derivation(
        what=f"Values for chart {mpi_operator.CHART}",
        values=mpi_operator.values,
        charts=(mpi_operator.LINE,),
        profiles=(PlatformProfile.MLRUN_CE,),
        needs_core_services=True,
    ),
    System.PRESTO: Derivation(
        what=f"Values for chart {presto.CHART}",
        values=presto.values,
        options=frozenset(("ingress_class",)),
        profiles=(PlatformProfile.MLRUN_CE,),
    ),
    System.APP_SERVICES: Derivation(
        what="Placement of Iguazio's application services",
        values=app_services.values,
        profiles=(PlatformProfile.IGUAZIO,),
    ),
    System.INGRESS: Derivation(
        what="Ingress of MLRun CE",
        values=ingress.values,
        profiles=(PlatformProfile.MLRUN_CE,),
        needs_core_services=True,
        lack=ingress.lack,
    ),
    System.AWS_LOAD_BALANCER_CONTROLLER: _opening(LOAD_BALANCER_CONTROLLER),
    System.EXTERNAL_DNS: _opening(EXTERNAL_DNS),
}
"""How the values of each system are derived."""
