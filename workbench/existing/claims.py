"""Whether claims of shared storage would be bound by the classes of a live cluster."""

from collections.abc import Iterator
from typing import Final

from components.contract.existing.cluster_inventory import SharedKind
from components.contract.existing.config import ExistingConfig
from infra.config import StackConfig
from workbench.engine.conflict import Conflict
from workbench.engine.live_objects import LiveObject
from workbench.existing.live import LiveCluster

DISKS: Final = frozenset(
    {
        *("cinder.csi.openstack.org", "csi.hetzner.cloud", "disk.csi.azure.com", "dobs.csi.digitalocean.com"),
        *("ebs.csi.aws.com", "ebs.csi.eks.amazonaws.com", "pd.csi.storage.gke.io", "rbd.csi.ceph.com", "topolvm.io"),
        *("kubernetes.io/aws-ebs", "kubernetes.io/azure-disk", "kubernetes.io/gce-pd"),
    }
)
"""Drivers of disks, whose file systems one node mounts at a time; there are more.

https://kubernetes-csi.github.io/docs/drivers.html, and
https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes.
"""


def conflicts(config: StackConfig, live: LiveCluster) -> Iterator[Conflict]:
    """Yield a conflict for each storage whose claims would wait for ever.

    Parameters
    ----------
    config
        The stack file.
    live
        The cluster.
    """
    drivers = _drivers(config, live)
    for storage, name in _chosen(config):
        if name not in drivers:
            known = ", ".join(sorted(drivers)) or "none"
            yield Conflict(
                f"storage.{storage}.storageClass",
                f"no StorageClass '{name}' in the cluster, which has: {known}",
                "a class whose volumes many nodes can mount at once",
                "Correct the name, or ask the cluster's owner to install such a class.",
            )
        elif (driver := drivers[name]) in DISKS:
            yield Conflict(
                f"storage.{storage}.storageClass",
                f"StorageClass '{name}' of {driver}, whose volumes one node mounts at a time",
                "a class whose volumes many nodes can mount at once",
                "Use a class of a shared file system, such as NFS or CephFS; claims for many nodes would stay Pending.",
            )


def notes(config: StackConfig, live: LiveCluster) -> Iterator[str]:
    """Yield advice on the classes of shared storage; parameters as in ``conflicts``."""
    classes = _classes(live)
    for storage, name in _chosen(config):
        found = classes.get(name)
        kept = config.storage[storage].purpose.is_kept
        if found and kept and found.content.get("reclaimPolicy", "Delete") == "Delete":
            yield (
                f"StorageClass {name} deletes the data of a deleted claim, and storage '{storage}' is to keep it: ask "
                "the owner for a class with reclaimPolicy Retain."
            )


def _chosen(config: StackConfig) -> Iterator[tuple[str, str]]:
    for storage, choices in config.storage.items():
        if choices.storage_class:
            yield storage, choices.storage_class


def _drivers(config: StackConfig, live: LiveCluster) -> dict[str, str]:
    """Return the driver of each class that the cluster has, or gets as its default."""
    own = config.cluster.storage_class if isinstance(config.cluster, ExistingConfig) else None
    found = {name: str(each.content.get("provisioner", "")) for name, each in _classes(live).items()}
    return {**({own.name: own.provisioner} if own else {}), **found}


def _classes(live: LiveCluster) -> dict[str, LiveObject]:
    return {what.name: found for what, found in live.shared.items() if what.kind is SharedKind.STORAGE_CLASS}
