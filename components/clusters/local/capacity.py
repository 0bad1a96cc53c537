"""Capacity and allocatable resources of simulated nodes."""

from components.contract.allocatable import PODS_PER_NODE, allocatable_cpu_millis, allocatable_memory_mib
from components.contract.groups import NodeGroup

EPHEMERAL_STORAGE_GIB = 80
"""Size of the simulated root disk."""


def capacity(group: NodeGroup) -> dict[str, str]:
    """Return the whole machine's resources, as Kubernetes quantities."""
    instance = group.instances[0]
    return _resources(group, cpu=str(instance.vcpus), memory_mib=instance.memory_mib)


def allocatable(group: NodeGroup) -> dict[str, str]:
    """Return the resources that pods may use, as on a real machine of that type."""
    instance = group.instances[0]
    cpu = f"{allocatable_cpu_millis(instance)}m"
    return _resources(group, cpu=cpu, memory_mib=allocatable_memory_mib(instance))


def _resources(group: NodeGroup, *, cpu: str, memory_mib: int) -> dict[str, str]:
    resources = {
        "cpu": cpu,
        "memory": f"{memory_mib}Mi",
        "ephemeral-storage": f"{EPHEMERAL_STORAGE_GIB}Gi",
        "pods": str(PODS_PER_NODE),
    }
    if group.gpu_resource:
        resources[group.gpu_resource] = str(group.instances[0].gpus)
    return resources
