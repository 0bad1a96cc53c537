"""Zones of a stack's cluster as nodes have them in the label ``topology.kubernetes.io/zone``."""

from components.contract.aks.config import AksConfig
from components.contract.clusters import descriptor_of
from components.contract.eks.config import EksConfig
from infra.config import StackConfig


def zone_label(config: StackConfig, zone: str) -> str:
    """Return a zone of the stack file as the cloud writes it in node labels.

    ``a`` in the region ``eu-west-1`` is ``eu-west-1a``
    (https://kubernetes.io/docs/reference/labels-annotations-taints/#topologykubernetesiozone), ``1`` in the location
    ``westeurope`` is ``westeurope-1`` (https://learn.microsoft.com/azure/aks/availability-zones).
    """
    cluster = config.cluster
    if isinstance(cluster, EksConfig):
        return f"{cluster.region}{zone}"
    return f"{cluster.location}-{zone}" if isinstance(cluster, AksConfig) else zone


def zones_of(config: StackConfig) -> tuple[str, ...]:
    """Return the zones of a stack's cluster; empty if its stack file names none."""
    zones = descriptor_of(config.cluster).zones(config.cluster)
    return tuple(zone_label(config, zone) for zone in zones)
