"""The operator of MPI jobs: values of Iguazio's chart for it, which MLRun CE's chart contains too."""

from typing import Any, Final

from components.contract.systems.core_services import CoreService, placement
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues, helm_command, tree

CHART: Final = "mpi-operator"
LINE: Final = "0.7"
"""Minor version of the chart."""

REPOSITORY: Final = "https://v3io.github.io/helm-charts/stable"
"""Helm repository of the chart."""

SERVICES: Final = (CoreService(""),)
"""The operator, whose chart has no labels for its pod."""


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the values of the chart."""
    flat: dict[str, Any] = {
        # Both are off by default, as Iguazio's installer creates them. MPIJobs need the definition and the rights.
        "crd.create": True,
        "rbac.clusterResources.create": True,
    }
    if not cluster.places_by_itself:
        flat |= dict(placement(SERVICES))
    command = helm_command(CHART, CHART, REPOSITORY, f"~{LINE}.0", choices.namespace)
    return SystemValues(content=tree(flat), notes=_NOTES, next=command)


_NOTES: Final = (
    "MLRun CE's chart contains the operator: with MLRun CE use --for mlrun-ce, not these values",
    "the operator serves MPIJob v1, which is MLRun's default, in its own namespace only",
)
