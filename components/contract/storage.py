"""The default storage class: settings common to all drivers."""

from collections.abc import Mapping
from typing import Any, Final

from components.contract.labels import TRUE

DEFAULT_KEYS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
"""Annotations of the default class.

Kubernetes still reads the old one, which older clusters use.
https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
"""

DEFAULT_CLASS: Final = {DEFAULT_KEYS[0]: TRUE}
"""How we mark ours."""


def storage_class(provisioner: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the content of a class without its metadata.

    A volume is created in the zone of its first pod; created earlier, it could be in a zone without room for the pod.

    Parameters
    ----------
    provisioner
        CSI driver, such as ``ebs.csi.aws.com``.
    parameters
        Parameters of the driver; see its documentation.
    """
    return {
        "provisioner": provisioner,
        "parameters": dict(parameters),
        "volume_binding_mode": "WaitForFirstConsumer",
        "reclaim_policy": "Delete",
        "allow_volume_expansion": True,
    }
