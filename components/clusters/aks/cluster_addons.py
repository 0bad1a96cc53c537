"""In-cluster add-ons for AKS: GPU plug-in and default storage class. AKS has its own autoscaler."""

from dataclasses import dataclass
from typing import Final

import pulumi

from components.addons.device_plugin import device_plugins
from components.addons.gpu_metrics import gpu_metrics
from components.addons.images import device_plugin_image, gpu_metrics_image
from components.addons.storage import DefaultStorageClass, DefaultStorageClassArgs
from components.base import PlatformComponent
from components.contract.aks.config import AksConfig
from components.contract.groups import NodeGroup

STORAGE_CLASS: Final = "premium-ssd"
DISK_DRIVER: Final = "disk.csi.azure.com"
DISK_PARAMETERS: Final = {"skuName": "Premium_LRS"}
"""https://github.com/kubernetes-sigs/azuredisk-csi-driver/blob/master/docs/driver-parameters.md.

Azure encrypts every disk, and host encryption covers the data in transit to it.
"""


@dataclass(frozen=True, kw_only=True)
class ClusterAddonsArgs:
    """Inputs of the cluster's own add-ons."""

    choices: AksConfig
    groups: tuple[NodeGroup, ...]


class ClusterAddons(PlatformComponent):
    """The default storage class; with GPU pools, also the GPU plug-in and, if chosen, the exporter of metrics.

    AKS marks a class of its own as the default. Of several defaults Kubernetes uses the newest, which is ours.
    https://kubernetes.io/docs/concepts/storage/storage-classes/#default-storageclass
    """

    def __init__(self, name: str, args: ClusterAddonsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksClusterAddons", name, None, opts)
        disk_key = args.choices.disk_encryption_set_id
        parameters = {**DISK_PARAMETERS, **({"diskEncryptionSetID": disk_key} if disk_key else {})}
        DefaultStorageClass(
            STORAGE_CLASS, DefaultStorageClassArgs(provisioner=DISK_DRIVER, parameters=parameters), self.child()
        )
        gpu, mirrors = args.choices.gpu, args.choices.image_registries
        device_plugins(name, args.groups, self.child, image=device_plugin_image(gpu, mirrors))
        if gpu.metrics:
            gpu_metrics(name, args.groups, self.child, gpu_metrics_image(mirrors))
        self.register_outputs({})
