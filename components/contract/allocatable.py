"""Resources that a node reserves for its own daemons.

The formula comes from EKS's machine images (https://awslabs.github.io/amazon-eks-ami/nodeadm/). Other clouds reserve
about as much.
"""

from decimal import Decimal
from typing import Final

from components.contract.instances import InstanceType

PODS_PER_NODE: Final = 110
"""Default of the upstream kubelet: https://kubernetes.io/docs/setup/best-practices/cluster-large/."""

_CPU_SHARES: Final = ((1, "0.06"), (1, "0.01"), (2, "0.005"))
_CPU_SHARE_REST: Final = "0.0025"
_MEMORY_BASE_MIB: Final = 255
_MEMORY_PER_POD_MIB: Final = 11
_EVICTION_MIB: Final = 100
_DISK_BASE_MIB: Final = 1024
_DISK_EVICTION: Final = Decimal("0.1")
_FILE_SYSTEM_MIB: Final = 128
_FILE_SYSTEM_SHARE: Final = Decimal("0.001")
"""What partitions and the journal of the file system take of a disk: assumed."""


def allocatable_cpu_millis(instance: InstanceType) -> int:
    """Return the millicores that pods may use."""
    reserved, left = Decimal(0), instance.vcpus
    for cores, share in _CPU_SHARES:
        taken = min(cores, left)
        reserved += taken * Decimal(share)
        left -= taken
    return instance.vcpus * 1000 - int((reserved + left * Decimal(_CPU_SHARE_REST)) * 1000)


def allocatable_memory_mib(instance: InstanceType) -> int:
    """Return the MiB of memory that pods may use."""
    return instance.memory_mib - (_MEMORY_BASE_MIB + _MEMORY_PER_POD_MIB * PODS_PER_NODE + _EVICTION_MIB)


def allocatable_disk_mib(disk_gib: int) -> int:
    """Return the MiB of a root disk that pods may use.

    1 GiB is reserved, and pods are evicted when less than a tenth is left: awslabs/amazon-eks-ami,
    ``nodeadm/internal/kubelet/config.go``.
    """
    capacity = disk_gib * 1024 * (1 - _FILE_SYSTEM_SHARE) - _FILE_SYSTEM_MIB
    return int(capacity * (1 - _DISK_EVICTION)) - _DISK_BASE_MIB
