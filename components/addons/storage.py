"""Where claims that name no class get their volume."""

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.storage.v1 import StorageClass

from components.base import PlatformComponent
from components.ownership import owned


@dataclass(frozen=True, kw_only=True)
class DefaultStorageClassArgs:
    """Inputs of the default class."""

    provisioner: str
    """CSI driver, such as ``ebs.csi.aws.com``."""
    parameters: dict[str, str]
    """By the driver's own documentation."""


class DefaultStorageClass(PlatformComponent):
    """The one default class, named as the component. The MLRun CE chart leaves the class of its claims empty.

    A volume is made where its first pod is placed: made earlier it could lie in a zone without room for the pod.
    """

    def __init__(self, name: str, args: DefaultStorageClassArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:addons:DefaultStorageClass", name, None, opts)
        StorageClass(
            name,
            metadata=owned(name, annotations={"storageclass.kubernetes.io/is-default-class": "true"}),
            provisioner=args.provisioner,
            parameters=args.parameters,
            volume_binding_mode="WaitForFirstConsumer",
            reclaim_policy="Delete",
            allow_volume_expansion=True,
            # Everything but the annotation is immutable, and two classes cannot have one name.
            opts=self.child(delete_before_replace=True),
        )
        self.register_outputs({"name": name})
