"""What nodes of EKS keep for their own daemons, and how many pods they take.

nodeadm computes it when a node starts: awslabs/amazon-eks-ami 01375496, ``nodeadm/internal/kubelet/config.go``.
"""

from typing import Final

from components.contract.allocatable import (
    EKS_CPU_SHARES,
    EKS_MEMORY_BASE_MIB,
    EKS_MEMORY_PER_POD_MIB,
    PODS_PER_NODE,
    Reserves,
    reserved_cpu,
)
from components.contract.instances import InstanceType, Provider

_MANY_CORES: Final = 30
_PODS_MAX: Final = 250
"""Managed node groups allow at most 110 pods on nodes of less than 30 vCPUs, else 250.

https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html
"""

_RESERVED_DISK_MIB: Final = 1024


def pod_addresses(instance: InstanceType) -> int:
    """Return for how many pods the machine's network interfaces have addresses; 110 if it is none of AWS.

    nodeadm reserves memory for so many, even if the node takes fewer. The figures are those of addresses without prefix
    delegation, which ``ManagedAddon`` vpc-cni does not turn on.
    """
    return instance.pod_addresses if instance.provider is Provider.AWS else PODS_PER_NODE


def pods(instance: InstanceType) -> int:
    """Return the maximum number of pods on a node of a managed node group."""
    return min(pod_addresses(instance), _PODS_MAX if instance.vcpus >= _MANY_CORES else PODS_PER_NODE)


def _memory(instance: InstanceType) -> int:
    # At least for 110 pods. Machines with fewer addresses reserve less, but firmware and kernel take more than the
    # difference, and an empty group must not promise what its node does not offer.
    return EKS_MEMORY_BASE_MIB + EKS_MEMORY_PER_POD_MIB * max(pod_addresses(instance), PODS_PER_NODE)


RESERVES: Final = Reserves(
    cpu_millis=reserved_cpu(EKS_CPU_SHARES), memory_mib=_memory, pods=pods, disk_mib=_RESERVED_DISK_MIB
)
"""Of every managed node group: no stack changes the kubelet's settings."""
