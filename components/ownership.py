"""Under which name this package owns the objects that it applies to a cluster."""

from collections.abc import Mapping
from typing import Final

import pulumi
from pulumi_kubernetes.meta.v1 import ObjectMetaArgs

from components.contract.labels import TRUE

FIELD_MANAGER: Final = "igz-clusters"
"""Manager of all fields that we apply.

Left alone, the Kubernetes provider invents a name for each object and keeps it in the state only. If a run is killed
between an object's creation and the saving of the state, the next run comes under another name, and the API server
refuses it as a conflict with the first. Under one constant name any run can be repeated.
"""

_ANNOTATIONS: Final = {
    "pulumi.com/patchFieldManager": FIELD_MANAGER,
    # What is declared here is ours: an update restores it, whoever changed it by hand in the meantime.
    # https://kubernetes.io/docs/reference/using-api/server-side-apply/#using-server-side-apply-in-a-controller
    "pulumi.com/patchForce": TRUE,
}


def owned(
    name: str,
    *,
    namespace: pulumi.Input[str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> ObjectMetaArgs:
    """Return the metadata of an object that this package owns.

    Parameters
    ----------
    name
        Plain and fixed: what a killed run made is found again by it.
    namespace
        Default: the object has none.
    labels, annotations
        Further ones of the object's own.
    """
    return ObjectMetaArgs(
        name=name,
        namespace=namespace,
        labels=dict(labels) if labels else None,
        annotations={**(annotations or {}), **_ANNOTATIONS},
    )
