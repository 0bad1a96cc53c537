"""Resources that a node reserves for its own daemons, and what is left for pods.

Each kind of cluster defines the reserves of its nodes in ``components/contract/KIND/nodes.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from components.contract.instances import InstanceType

PODS_PER_NODE: Final = 110
"""Default of the upstream kubelet: https://kubernetes.io/docs/setup/best-practices/cluster-large/."""

EVICTION_MIB: Final = 100
"""Memory that pods cannot use, because the kubelet evicts them first: the default of upstream, EKS and AKS.

https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/ (``evictionHard``)
"""

Shares: TypeAlias = tuple[tuple[int | None, str], ...]
"""Shares that apply to so many cores each, in turn; None for all further cores."""

EKS_CPU_SHARES: Final[Shares] = ((1, "0.06"), (1, "0.01"), (2, "0.005"), (None, "0.0025"))
"""Shares of CPU that a node of EKS reserves; also assumed where nothing is known about the kubelet.

awslabs/amazon-eks-ami 01375496, ``nodeadm/internal/kubelet/config.go`` (``getCPUMillicoresToReserve``).
"""

EKS_MEMORY_BASE_MIB: Final = 255
EKS_MEMORY_PER_POD_MIB: Final = 11
"""The same file, ``GetMemoryMebibytesToReserve``."""

_FILE_SYSTEM_MIB: Final = 128
_FILE_SYSTEM_SHARE: Final = Decimal("0.001")
"""What partitions and the file system's journal use of a disk: assumed."""

_DISK_EVICTION: Final = Decimal("0.1")
"""Pods are evicted when less than this share of the root disk is free: default of upstream, EKS and AKS."""


def reserved_cpu(shares: Shares) -> Callable[[InstanceType], int]:
    """Return the function that adds up the millicores that a machine reserves by ``shares``."""

    def reserve(instance: InstanceType) -> int:
        reserved, left = Decimal(0), instance.vcpus
        for cores, share in shares:
            taken = left if cores is None else min(cores, left)
            reserved += taken * Decimal(share)
            left -= taken
        return int(reserved * 1000)

    return reserve


_USUAL_CPU: Final = reserved_cpu(EKS_CPU_SHARES)


def _pods(_: InstanceType) -> int:
    return PODS_PER_NODE


def _memory(instance: InstanceType) -> int:
    return EKS_MEMORY_BASE_MIB + EKS_MEMORY_PER_POD_MIB * _pods(instance)


@dataclass(frozen=True, kw_only=True)
class Reserves:
    """What nodes of one kind of cluster reserve; the defaults are for nodes with an unknown kubelet.

    The default formula comes from EKS with 110 pods; other distributions reserve about as much.
    """

    cpu_millis: Callable[[InstanceType], int] = _USUAL_CPU
    """Millicores of ``kubeReserved``."""
    memory_mib: Callable[[InstanceType], int] = _memory
    """MiB of ``kubeReserved``, without the eviction threshold."""
    pods: Callable[[InstanceType], int] = _pods
    """Maximum number of pods."""
    disk_mib: int | None = None
    """MiB of the root disk of ``kubeReserved``; None if the whole disk is offered to pods, as simulated nodes do."""

    def allocatable_cpu_millis(self, instance: InstanceType) -> int:
        """Return the millicores that pods may use."""
        return instance.vcpus * 1000 - self.cpu_millis(instance)

    def allocatable_memory_mib(self, instance: InstanceType) -> int:
        """Return the MiB of memory that pods may use.

        Firmware and kernel use some of a machine's nominal memory too. It is subtracted only as far as ``memory_mib``
        includes it: Azure does not publish how much it is.
        """
        return instance.memory_mib - self.memory_mib(instance) - EVICTION_MIB

    def allocatable_disk_mib(self, disk_gib: int) -> int:
        """Return the MiB of a root disk that pods may use."""
        if self.disk_mib is None:
            return disk_gib * 1024
        capacity = disk_gib * 1024 * (1 - _FILE_SYSTEM_SHARE) - _FILE_SYSTEM_MIB
        return int(capacity * (1 - _DISK_EVICTION)) - self.disk_mib


UPSTREAM: Final = Reserves()
"""Reserves of nodes that no known cloud creates."""
