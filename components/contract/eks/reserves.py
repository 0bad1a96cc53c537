"""What nodes of EKS reserve for their own daemons, and how many pods they accept.

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

PREFIX_ADDRESSES: Final = 16
"""Addresses of a prefix, a /28: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-prefix-eni.html."""

_WITHOUT_PREFIXES: Final = ("i3.",)
"""Prefixes of the names of types that are not built on Nitro and therefore always get single addresses.

https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-nitro-instances.html
"""

_ONE_INTERFACE: Final = ("hpc6id.32xlarge",)
"""Types with one network interface: aws/amazon-vpc-cni-k8s, ``pkg/vpc/vpc_ip_resource_limit.go``."""

PREFIXES_BESIDE: Final = 2
"""Prefixes that a full node uses besides those of its pods.

One is kept ready (``WARM_PREFIX_TARGET``), and an interface's own address occupies part of another one.
"""

_SMALL_MIB: Final = 65_536
_UNSEEN_PERCENT: Final = 4
"""Share of a machine's memory above ``_SMALL_MIB`` that firmware and kernel use.

AWS measured that nodes have less memory than EC2's figure, by 2 to 5 % for most types (aws/karpenter-provider-aws
33450d8f, ``pkg/providers/instancetype/zz_generated.memory_overhead.go``, 2023). With this share, the calculated memory
of types of 256 GiB and more in that list is between 2 % less and 0.9 % more than their nodes offer; that of smaller
ones is at most 3.4 GiB more.
"""

_ON_THE_HOST: Final = 2
"""Pods in the count of addresses that use the node's own address: awslabs/amazon-eks-ami, ``eni-max-pods.txt``."""


def pod_addresses(instance: InstanceType) -> int:
    """Return for how many pods the machine's network interfaces have addresses; 110 if it is not a type of AWS.

    nodeadm reserves memory for this number of pods, even if the node accepts fewer, or more with prefix delegation.
    """
    return instance.pod_addresses if instance.provider is Provider.AWS else PODS_PER_NODE


def takes_prefixes(instance: InstanceType) -> bool:
    """Return whether the machine's network interfaces support prefixes instead of single addresses."""
    return not instance.name.startswith(_WITHOUT_PREFIXES)


def has_interfaces_for_pods(instance: InstanceType) -> bool:
    """Return whether the machine's interfaces other than the first have prefixes for the maximum number of pods.

    The count of addresses does not show the first interface's part; with several interfaces it is at most half.
    """
    if instance.name in _ONE_INTERFACE:
        return False
    beside = (pod_addresses(instance) - _ON_THE_HOST) // 2 * PREFIX_ADDRESSES
    return takes_prefixes(instance) and beside >= pods(instance, has_prefixes=True)


def pods(instance: InstanceType, *, has_prefixes: bool = False) -> int:
    """Return the maximum number of pods on a node of a managed node group, which EKS calculates.

    Parameters
    ----------
    has_prefixes
        Whether prefix delegation is on.
    """
    addresses = pod_addresses(instance)
    if has_prefixes and takes_prefixes(instance):
        addresses = (addresses - _ON_THE_HOST) * PREFIX_ADDRESSES + _ON_THE_HOST
    return min(addresses, _PODS_MAX if instance.vcpus >= _MANY_CORES else PODS_PER_NODE)


def _memory(instance: InstanceType) -> int:
    # For at least 110 pods. Machines with fewer addresses reserve less, but firmware and kernel use more than the
    # difference, and an empty group must not announce memory that its node does not offer.
    reserved = EKS_MEMORY_BASE_MIB + EKS_MEMORY_PER_POD_MIB * max(pod_addresses(instance), PODS_PER_NODE)
    return reserved + max(instance.memory_mib - _SMALL_MIB, 0) * _UNSEEN_PERCENT // 100


RESERVES: Final = Reserves(
    cpu_millis=reserved_cpu(EKS_CPU_SHARES), memory_mib=_memory, pods=pods, disk_mib=_RESERVED_DISK_MIB
)
"""Reserves of managed node groups without prefix delegation: no stack changes the kubelet's settings."""
