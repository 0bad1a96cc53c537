"""The default storage class."""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.storage.v1 import StorageClass, StorageClassPatch

from components.base import PlatformComponent
from components.contract.storage import DEFAULT_CLASS, storage_class
from components.ownership import joined, owned


@dataclass(frozen=True, kw_only=True)
class DefaultStorageClassArgs:
    """Inputs of the default class."""

    provisioner: str
    """CSI driver, such as ``ebs.csi.aws.com``."""
    parameters: dict[str, str]
    """See the driver's documentation."""
    is_adopted: bool = False
    """Whether an identical class already exists; it is then annotated as the default and never deleted."""


class DefaultStorageClass(PlatformComponent):
    """The one default class, named as the component. The MLRun CE chart leaves the class of its claims empty."""

    def __init__(self, name: str, args: DefaultStorageClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:addons:DefaultStorageClass", name, None, opts)
        spec = storage_class(args.provisioner, args.parameters)
        # Everything but the annotation is immutable, and two classes cannot have one name.
        options = self.child(delete_before_replace=True)
        if args.is_adopted:
            StorageClassPatch(name, metadata=joined(name, annotations=DEFAULT_CLASS), **spec, opts=options)
        else:
            StorageClass(name, metadata=owned(name, annotations=DEFAULT_CLASS), **spec, opts=options)
        self.register_outputs({"name": name})
