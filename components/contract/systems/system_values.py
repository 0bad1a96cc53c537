"""Choices and results that the derivations of all systems share."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class ObjectStore(StrEnum):
    """Where MLRun keeps artifacts."""

    SEAWEEDFS = "seaweedfs"
    """In the cluster; part of MLRun CE's chart."""

    S3 = "s3"
    AZURE = "azure"


@dataclass(frozen=True, kw_only=True)
class SystemChoices:
    """Settings that a stack file does not have. Only names: values contain no key and no password.

    Parameters
    ----------
    namespace
        Namespace of the release.
    chart
        Minor version of the chart. Default: the current one.
    registry, registry_secret
        Registry for images that the platform builds, and the Secret with its credentials. Default: not set.
    store, bucket, storage_secret
        Object store, its bucket or container, and the Secret with its credentials. Default: SeaweedFS. Without a
        Secret, S3 is reached with the pods' identity.
    storage_class, ingress_class
        Classes of volumes and ingresses. Default: the cluster's.
    """

    namespace: str
    chart: str = ""
    registry: str | None = None
    registry_secret: str | None = None
    store: ObjectStore = ObjectStore.SEAWEEDFS
    bucket: str | None = None
    storage_secret: str | None = None
    storage_class: str | None = None
    ingress_class: str | None = None


@dataclass(frozen=True, kw_only=True)
class SystemValues:
    """Settings of a system.

    Parameters
    ----------
    content
        Tree of keys: values of a chart, or a manifest.
    notes
        What the content does not set up, as sentences without a full stop.
    next
        Command that applies it, with ``FILE`` for the file.
    """

    content: dict[str, Any]
    notes: tuple[str, ...] = ()
    next: str


def tree(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tree of values from paths with dots; keys that contain a dot can only be inside the values."""
    root: dict[str, Any] = {}
    for path, value in flat.items():
        *parents, last = path.split(".")
        place = root
        for key in parents:
            place = place.setdefault(key, {})
        place[last] = value
    return root


def helm_command(release: str, chart: str, repository: str, version: str, namespace: str, *flags: str) -> str:
    """Return the command that installs or upgrades a chart with the values in ``FILE``."""
    install = f"helm upgrade --install {release} {chart} --repo {repository} --version '{version}'"
    return " ".join([install, f"-n {namespace} -f FILE", *flags])
