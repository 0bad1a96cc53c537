"""AWS Load Balancer Controller: values of its chart, which follow from ``cluster.ingress``.

Keys: kubernetes-sigs/aws-load-balancer-controller v3.5.0 (225f4456) ``helm/aws-load-balancer-controller/values.yaml``.
"""

from typing import Final

from components.contract.eks.ingress import CONTROLLER, CONTROLLER_NAMESPACE
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues, helm_command, tree

CHART: Final = CONTROLLER
LINE: Final = "3.5"
"""Minor version of the chart, which is the controller's."""

REPOSITORY: Final = "https://aws.github.io/eks-charts"
"""Helm repository of the chart."""

NAMESPACE: Final = CONTROLLER_NAMESPACE
"""Namespace of the service account that has the rights."""


def lack(cluster: PlatformCluster) -> str | None:
    """Return why a cluster has no such controller; None if it has one."""
    if cluster.ways_in and cluster.ways_in.controller:
        return None
    return "needs cluster.ingress in the stack file of an EKS cluster; other kinds use a controller of yours"


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the values of the chart.

    Raises
    ------
    ValueError
        If the cluster lacks what ``lack`` names.
    """
    if not cluster.ways_in or lack(cluster):
        raise ValueError(lack(cluster))
    command = helm_command(CHART, CHART, REPOSITORY, f"~{LINE}.0", choices.namespace)
    notes = (
        "run up first: a pod that starts before its service account has the role gets no rights until it restarts",
        "delete all Ingresses before the controller, or their load balancers remain",
    )
    return SystemValues(content=tree(cluster.ways_in.controller), notes=notes, next=command)
