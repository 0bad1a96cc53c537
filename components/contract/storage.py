"""Storage classes: settings common to all drivers."""

from collections.abc import Mapping
from typing import Any, Final

from components.contract.labels import TRUE, is_dns_label

DEFAULT_KEYS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
"""Annotations of the default class.

Kubernetes still reads the old one, which older clusters use.
https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
"""

DEFAULT_CLASS: Final = {DEFAULT_KEYS[0]: TRUE}
"""Annotation of our own default class."""

CLASS_NAME_MAX: Final = 253
CLASS_NAME_PATTERN: Final = "^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$"
"""https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#dns-subdomain-names."""


def class_name_of(name: str) -> str:
    """Return the name of a storage class in a stack file if it is valid.

    Raises
    ------
    ValueError
        No class can have that name.
    """
    if not all(map(is_dns_label, name.split("."))):
        raise ValueError("must be lower-case letters, digits, '-' and '.'")
    return name


def storage_class(
    provisioner: str, parameters: Mapping[str, Any], *, is_disk: bool = True, is_kept: bool = False
) -> dict[str, Any]:
    """Return the content of a class without its metadata.

    Parameters
    ----------
    provisioner
        CSI driver, such as ``ebs.csi.aws.com``.
    parameters
        Parameters of the driver; see its documentation.
    is_disk
        Whether a volume is a disk, with a size that can grow and in one zone. It is then created in the zone of its
        first pod; if it were created earlier, it could be in a zone without room for the pod.
    is_kept
        Whether a volume is kept when its claim is deleted.
    """
    return {
        "provisioner": provisioner,
        "parameters": dict(parameters),
        "volume_binding_mode": "WaitForFirstConsumer" if is_disk else "Immediate",
        "reclaim_policy": "Retain" if is_kept else "Delete",
        "allow_volume_expansion": is_disk,
    }
