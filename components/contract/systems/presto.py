"""Presto: values of its own chart. On a full Iguazio platform, Presto, Hive and MariaDB are application services."""

from typing import Any, Final

from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues, helm_command, tree

CHART: Final = "presto"
VERSIONS: Final = ">=0.1.0"
"""Versions of the chart: the keys used exist in 0.1.0 and in all later versions that could be read."""

REPOSITORY: Final = "https://prestodb.github.io/presto-helm-charts"
"""Helm repository of the chart."""


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the values of the chart: coordinator and workers run on-demand, since a lost worker fails its queries."""
    flat: dict[str, Any] = {"nodeSelector": cluster.service_selector}
    if choices.ingress_class:
        flat["ingress.ingressClassName"] = choices.ingress_class
    command = helm_command(CHART, CHART, REPOSITORY, VERSIONS, choices.namespace)
    return SystemValues(content=tree(flat), notes=_NOTES, next=command)


_NOTES: Final = (
    "the chart has no value for a priority class, which PR-07 asks for",
    "coordinator and workers request the namespace's defaults: set resources, and jvm to fit, in a file of your own",
)
