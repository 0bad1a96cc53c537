"""Charts for ways in, by ``cluster.ingress``: a controller of load balancers on EKS, external-dns on AKS."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.contract.eks.ingress import CONTROLLER, CONTROLLER_NAMESPACE
from components.contract.ingress import EXTERNAL_DNS as DNS
from components.contract.ingress import WaysIn
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues, helm_command, tree


@dataclass(frozen=True, kw_only=True)
class WaysInChart:
    """A chart whose values are derived from ``cluster.ingress`` only.

    Parameters
    ----------
    name, line, repository
        Name, minor version and Helm repository.
    namespace
        Namespace of the service account that has the rights.
    settings
        Returns the values by path; empty if the cluster needs no such chart.
    missing
        Message about what a cluster lacks for which there are no values.
    notes
        As for ``SystemValues``.
    """

    name: str
    line: str
    repository: str
    namespace: str
    settings: Callable[[WaysIn], Mapping[str, Any]]
    missing: str
    notes: tuple[str, ...]

    def lack(self, cluster: PlatformCluster) -> str | None:
        """Return why a cluster needs no such chart; None if it needs one."""
        return None if cluster.ways_in and self.settings(cluster.ways_in) else self.missing

    def values(self, cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
        """Return the values of the chart.

        Raises
        ------
        ValueError
            If the cluster lacks what ``lack`` names.
        """
        if not cluster.ways_in or self.lack(cluster):
            raise ValueError(self.missing)
        command = helm_command(self.name, self.name, self.repository, f"~{self.line}.0", choices.namespace)
        return SystemValues(content=tree(self.settings(cluster.ways_in)), notes=self.notes, next=command)


LOAD_BALANCER_CONTROLLER: Final = WaysInChart(
    name=CONTROLLER,
    line="3.5",
    repository="https://aws.github.io/eks-charts",
    namespace=CONTROLLER_NAMESPACE,
    settings=lambda ways_in: ways_in.controller,
    missing="needs cluster.ingress in the stack file of an EKS cluster; other kinds use a controller of yours",
    notes=(
        "run up first: a pod that starts before its service account has the role gets no rights until it restarts",
        "delete all Ingresses before the controller, or their load balancers remain",
    ),
)
"""AWS Load Balancer Controller. Its version is the chart's.

Keys: kubernetes-sigs/aws-load-balancer-controller v3.5.0 (225f4456) ``helm/aws-load-balancer-controller/values.yaml``.
"""

EXTERNAL_DNS: Final = WaysInChart(
    name=DNS,
    line="1.21",
    repository="https://kubernetes-sigs.github.io/external-dns/",
    namespace=DNS,
    settings=lambda ways_in: ways_in.names,
    missing="needs cluster.ingress.dnsZoneId in the stack file of an AKS cluster; on EKS external-dns is an add-on",
    notes=(
        "run up first: it makes the namespace, the identity and the ConfigMap that the pod mounts",
        "delete all Ingresses before external-dns, or their names remain",
    ),
)
"""external-dns. Keys: kubernetes-sigs/external-dns 2bf1bf8a ``charts/external-dns/values.yaml`` (chart 1.21.1)."""
