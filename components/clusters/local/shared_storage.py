"""Shared storage on a local cluster: claims are bound for real, and nothing mounts them."""

from collections.abc import Mapping
from typing import Final

from components.clusters.handle import NO_PROVISIONER, Share
from components.contract.shared_storage import Storage, Volumes, class_name

SERVER: Final = "storage.invalid"
"""Name of a server that does not exist: a simulated node mounts nothing (https://www.rfc-editor.org/rfc/rfc2606)."""


def shares(storage: Mapping[str, Storage], volumes: Volumes) -> dict[str, Share]:
    """Return the shared storage with a volume for each claim, as an NFS server would have it."""
    return {
        key: Share(
            class_name=class_name(key),
            provisioner=NO_PROVISIONER,
            volumes={
                (namespace, claim): {"nfs": {"server": SERVER, "path": f"/{key}/{namespace}/{claim}"}}
                for (namespace, claim), volume in volumes.items()
                if volume.storage == key
            },
        )
        for key in storage
    }
