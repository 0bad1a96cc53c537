"""An Ingress for the services of MLRun CE that people and clients use, for `kubectl apply` or GitOps.

The charts' own Ingresses are not used: MLRun's supports no class, Jupyter's has a fixed one in some releases, and MLRun
CE's for AWS is always open to the internet (v3io/helm-charts 4f7599c7 ``stable/mlrun/templates/ui-ingress.yaml``;
mlrun/ce 5289f008 ``charts/mlrun-ce/templates/aws/aws_ingress.yaml``).
"""

from collections.abc import Iterator
from typing import Any, Final

from components.contract.ingress import ENDPOINTS, WaysIn
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues

NAME: Final = "mlrun-ce"
"""Name of the Ingress."""


def lack(cluster: PlatformCluster) -> str | None:
    """Return why there is no Ingress for a cluster; None if there is one."""
    return None if cluster.ways_in else "needs cluster.ingress in the stack file, with the domain of the platform"


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return the Ingress.

    Raises
    ------
    ValueError
        If the cluster lacks what ``lack`` names.
    """
    if not (ways_in := cluster.ways_in):
        raise ValueError(lack(cluster))
    hosts = [ways_in.host(each) for each in ENDPOINTS]
    rules: list[dict[str, Any]] = [
        {"host": host, "http": {"paths": [_everything(each.service, each.port)]}}
        for host, each in zip(hosts, ENDPOINTS, strict=True)
    ]
    tls = {"tls": [{"hosts": hosts, "secretName": ways_in.tls_secret}]} if ways_in.tls_secret else {}
    annotations = {"annotations": dict(ways_in.annotations)} if ways_in.annotations else {}
    content = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": NAME, "namespace": choices.namespace, **annotations},
        "spec": {"ingressClassName": ways_in.class_name, **tls, "rules": rules},
    }
    command = "kubectl apply --server-side -f FILE"
    return SystemValues(content=content, notes=tuple(_notes(ways_in)), next=command)


def _everything(service: str, port: int) -> dict[str, Any]:
    backend = {"service": {"name": service, "port": {"number": port}}}
    return {"path": "/", "pathType": "Prefix", "backend": backend}


def _notes(ways_in: WaysIn) -> Iterator[str]:
    yield (
        "MLRun, Nuclio and Jupyter ask for no password: every client that reaches these names can run code in the "
        "cluster (docs/ways-in.md)"
    )
    if not ways_in.is_encrypted:
        yield "clients use HTTP, without encryption, until cluster.ingress has a certificate"
