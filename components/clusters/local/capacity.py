"""What a simulated node reports: its type's capacity, and what is left after the system's share."""

from decimal import Decimal

from components.contract.groups import NodeGroup
from components.contract.instances import InstanceType

PODS_PER_NODE = 110
"""Upstream kubelet's default: https://kubernetes.io/docs/setup/best-practices/cluster-large/."""

EPHEMERAL_STORAGE_GIB = 80
"""Size of the simulated root disk."""

_CPU_SHARES = ((1, "0.06"), (1, "0.01"), (2, "0.005"))
_CPU_SHARE_REST = "0.0025"
_MEMORY_BASE_MIB, _MEMORY_PER_POD_MIB, _EVICTION_MIB = 255, 11, 100


def capacity(group: NodeGroup) -> dict[str, str]:
    """Return the whole machine's resources, as Kubernetes quantities."""
    return _resources(group, group.instances[0], cpu_millis=0, memory_mib=0)


def allocatable(group: NodeGroup) -> dict[str, str]:
    """Return what pods may use of a machine.

    The reservation follows the formula of EKS's machine images
    (https://awslabs.github.io/amazon-eks-ami/nodeadm/), so that a pool that is too small on paper is too small here.
    """
    instance = group.instances[0]
    memory = _MEMORY_BASE_MIB + _MEMORY_PER_POD_MIB * PODS_PER_NODE + _EVICTION_MIB
    return _resources(group, instance, cpu_millis=_reserved_cpu_millis(instance.vcpus), memory_mib=memory)


def _reserved_cpu_millis(vcpus: int) -> int:
    reserved, left = Decimal(0), vcpus
    for cores, share in _CPU_SHARES:
        taken = min(cores, left)
        reserved += taken * Decimal(share)
        left -= taken
    return int((reserved + left * Decimal(_CPU_SHARE_REST)) * 1000)


def _resources(group: NodeGroup, instance: InstanceType, *, cpu_millis: int, memory_mib: int) -> dict[str, str]:
    resources = {
        "cpu": f"{instance.vcpus * 1000 - cpu_millis}m" if cpu_millis else str(instance.vcpus),
        "memory": f"{instance.memory_mib - memory_mib}Mi",
        "ephemeral-storage": f"{EPHEMERAL_STORAGE_GIB}Gi",
        "pods": str(PODS_PER_NODE),
    }
    if group.gpu_resource:
        resources[group.gpu_resource] = str(instance.gpus)
    return resources
