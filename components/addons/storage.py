"""The default storage class, and those of shared storage."""

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.storage.v1 import StorageClass, StorageClassPatch

from components.base import PlatformComponent
from components.clusters.handle import Share
from components.contract.shared_storage import Storage
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
        # Everything but the annotation is immutable, and two classes cannot have the same name.
        options = self.child(delete_before_replace=True)
        if args.is_adopted:
            StorageClassPatch(name, metadata=joined(name, annotations=DEFAULT_CLASS), **spec, opts=options)
        else:
            StorageClass(name, metadata=owned(name, annotations=DEFAULT_CLASS), **spec, opts=options)
        self.register_outputs({"name": name})


@dataclass(frozen=True)
class SharedStorageClassesArgs:
    """Inputs of the classes of shared storage."""

    storage: Mapping[str, Storage]
    shares: Mapping[str, Share]


class SharedStorageClasses(PlatformComponent):
    """A class for each shared storage that the stack creates: its claims get volumes that many pods mount at once."""

    def __init__(self, name: str, args: SharedStorageClassesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:addons:SharedStorageClasses", name, None, opts)
        own = {key: share for key, share in args.shares.items() if share.provisioner}
        for key, share in own.items():
            spec = storage_class(
                share.provisioner, share.parameters, is_disk=False, is_kept=args.storage[key].purpose.is_kept
            )
            # As with the default class, everything is immutable; the provider does not know that the reclaim policy is.
            options = self.child(delete_before_replace=True, replace_on_changes=["reclaimPolicy"])
            StorageClass(share.class_name, metadata=owned(share.class_name), **spec, opts=options)
        self.register_outputs({"names": [share.class_name for share in own.values()]})
