"""How this package marks the objects that it applies to a cluster."""

from collections.abc import Mapping
from typing import Final

import pulumi
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs, ObjectMetaPatchArgs

from components.contract.labels import TRUE
from components.contract.ownership import FIELD_MANAGER

_MANAGER: Final = {"pulumi.com/patchFieldManager": FIELD_MANAGER}
_ANNOTATIONS: Final = {
    **_MANAGER,
    # An update restores declared fields, also those that were changed by hand in the meantime.
    # https://kubernetes.io/docs/reference/using-api/server-side-apply/#using-server-side-apply-in-a-controller
    "pulumi.com/patchForce": TRUE,
}


def owned(
    name: str,
    *,
    namespace: pulumi.Input[str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, pulumi.Input[str]] | None = None,
) -> ObjectMetaArgs:
    """Return the metadata of an object that this package owns.

    Parameters
    ----------
    name
        A fixed name, so that objects of a killed run are found again.
    namespace
        Default: none.
    labels, annotations
        Additional labels and annotations of the object.
    """
    return ObjectMetaArgs(
        name=name,
        namespace=namespace,
        labels=dict(labels) if labels else None,
        annotations={**(annotations or {}), **_ANNOTATIONS},
    )


def joined(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> ObjectMetaPatchArgs:
    """Return metadata for adding fields to an existing object of another owner.

    Nothing is forced: the API server rejects conflicts with other managers. A deletion releases our fields and keeps
    those of others.

    Parameters
    ----------
    name
        The object's.
    labels, annotations
        The fields to add.
    """
    return ObjectMetaPatchArgs(
        name=name, labels=dict(labels) if labels else None, annotations={**(annotations or {}), **_MANAGER}
    )
