"""external-dns: values of its chart, which follow from ``cluster.ingress`` of an AKS cluster.

Keys: kubernetes-sigs/external-dns 2bf1bf8a ``charts/external-dns/values.yaml`` (chart 1.21.1).
"""

from typing import Final

from components.contract.ingress import EXTERNAL_DNS
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues, helm_command, tree

CHART: Final = EXTERNAL_DNS
LINE: Final = "1.21"
"""Minor version of the chart."""

REPOSITORY: Final = "https://kubernetes-sigs.github.io/external-dns/"
"""Helm repository of the chart."""

NAMESPACE: Final = EXTERNAL_DNS
"""Namespace of the service account that has the identity."""


def lack(cluster: PlatformCluster) -> str | None:
    """Return why a cluster has no external-dns of this chart; None if it has one."""
    if cluster.ways_in and cluster.ways_in.names:
        return None
    return "needs cluster.ingress.dnsZoneId in the stack file of an AKS cluster; on EKS external-dns is an add-on"


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the values of the chart.

    Raises
    ------
    ValueError
        If the cluster lacks what ``lack`` names.
    """
    if not cluster.ways_in or lack(cluster):
        raise ValueError(lack(cluster))
    notes = (
        "run up first: it makes the namespace, the identity and the ConfigMap that the pod mounts",
        "delete all Ingresses before external-dns, or their names remain",
    )
    command = helm_command(CHART, CHART, REPOSITORY, f"~{LINE}.0", choices.namespace)
    return SystemValues(content=tree(cluster.ways_in.names), notes=notes, next=command)
