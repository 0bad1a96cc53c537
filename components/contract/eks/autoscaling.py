"""Tags from which the Cluster Autoscaler learns about an EKS node group.

Tags of the managed node group do not reach its Auto Scaling group, and a group of size 0 has no node to learn from. How
the tags are read: Cluster Autoscaler, ``cloudprovider/aws/aws_manager.go``.
"""

from typing import Final

from components.contract.autoscaler import label_tag, resource_tag, taint_tag
from components.contract.aws import OwnTag
from components.contract.eks.reserves import RESERVES
from components.contract.gpus import DEFAULT_GPU_RESOURCE
from components.contract.groups import NodeGroup

ACCELERATOR_LABEL: Final = "k8s.amazonaws.com/accelerator"
"""Label on nodes with whole GPUs.

While such a node does not offer its GPUs yet, the autoscaler waits instead of starting another one. It knows the name
nvidia.com/gpu only, and would wait forever for a node that offers shares (kubernetes/autoscaler 1959f5f6,
``processors/customresources/gpu_processor.go``).
https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/aws/README.md
"""


def node_labels(group: NodeGroup) -> dict[str, str]:
    """Return the labels of the group's nodes on EKS."""
    if DEFAULT_GPU_RESOURCE not in group.devices:
        return dict(group.labels)
    return {**group.labels, ACCELERATOR_LABEL: f"nvidia-{group.instances[0].gpu_label.lower()}"}


def autoscaling_tags(group: NodeGroup, cluster_name: str, disk_gib: int) -> dict[str, str]:
    """Return the tags of the group's Auto Scaling group; none for a static one.

    Without these tags, the autoscaler uses CPU, memory and GPUs of the first machine type, without the node's reserves.
    It would start nodes for pods that do not fit, and nodes with shared GPUs for pods that request whole ones.
    """
    if not group.is_elastic:
        return {}
    resources = {
        "cpu": f"{RESERVES.allocatable_cpu_millis(group.instances[0])}m",
        "ephemeral-storage": f"{RESERVES.allocatable_disk_mib(disk_gib)}Mi",
        "memory": f"{RESERVES.allocatable_memory_mib(group.machine)}Mi",
        **{name: f"{mib}Mi" for name, mib in group.huge_pages.items()},
    }
    if group.sharing:
        resources[DEFAULT_GPU_RESOURCE] = "0"
    resources |= {name: str(count) for name, count in group.devices.items()}
    return {
        OwnTag.AUTOSCALER.value: cluster_name,
        **dict(label_tag(key, value) for key, value in sorted(node_labels(group).items())),
        **dict(taint_tag(taint) for taint in group.taints),
        **dict(resource_tag(name, size) for name, size in resources.items()),
    }
