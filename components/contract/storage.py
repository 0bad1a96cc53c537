"""The default storage class: settings common to all drivers."""

from collections.abc import Mapping
from typing import Any, Final

from components.contract.labels import TRUE

DEFAULT_KEYS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
"""Annotations of the class of claims that name none. Kubernetes still heeds the old one, which older clusters carry.

https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
"""

DEFAULT_CLASS: Final = {DEFAULT_KEYS[0]: TRUE}
"""How we mark ours."""


def storage_class(provisioner: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of a class without its metadata.

    A volume is made where its first pod is placed: made earlier it could lie in a zone without room for the pod.

    Parameters
    ----------
    provisioner
        CSI driver, such as ``ebs.csi.aws.com``.
    parameters
        By the driver's own documentation.
    """
    return {
        "provisioner": provisioner,
        "parameters": dict(parameters),
        "volume_binding_mode": "WaitForFirstConsumer",
        "reclaim_policy": "Delete",
        "allow_volume_expansion": True,
    }
