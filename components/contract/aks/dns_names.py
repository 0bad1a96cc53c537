"""Names of an AKS cluster's ways in: the settings of external-dns for their zone."""

from dataclasses import replace
from typing import Final

from components.contract.aks.identity import USE_LABEL
from components.contract.aks.ingress import AksIngress
from components.contract.azure import is_private_zone, zone_name
from components.contract.ingress import EXTERNAL_DNS, WaysIn, naming

CONFIG_MAP: Final = "external-dns-azure"
"""ConfigMap with the file ``azure.json``, in the namespace of external-dns."""

CONFIG_FOLDER: Final = "/etc/kubernetes"
"""Folder in which external-dns reads it: kubernetes-sigs/external-dns 2bf1bf8a ``pkg/apis/externaldns/types.go``."""


def aks_ways_in(ingress: AksIngress | None, owner: str) -> WaysIn | None:
    """Return the ways in of a cluster; None if there are none.

    Parameters
    ----------
    ingress
        Their settings in the stack file.
    owner
        Name that distinguishes the cluster from others with names in the same zone.
    """
    if not ingress:
        return None
    if not (zone := ingress.dns_zone_id):
        return ingress.ways_in
    names = {
        "provider.name": "azure-private-dns" if is_private_zone(zone) else "azure",
        **naming(ingress.domain, owner),
        # The domain may be below its zone, which the filter of domains would leave out: ``provider/azure/azure.go``.
        "extraArgs": [f"--zone-name-filter={zone_name(zone)}"],
        "serviceAccount.name": EXTERNAL_DNS,
        "podLabels": dict([USE_LABEL]),
        "extraVolumes": [{"name": "azure", "configMap": {"name": CONFIG_MAP}}],
        "extraVolumeMounts": [{"name": "azure", "mountPath": CONFIG_FOLDER, "readOnly": True}],
    }
    return replace(ingress.ways_in, names=names)
