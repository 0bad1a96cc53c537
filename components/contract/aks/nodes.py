"""The nodes of AKS: what they reserve, their root disk, and the labels that Azure adds."""

from collections.abc import Mapping
from typing import Final

from components.contract.aks.agent_pools import PODS_MAX, node_labels, pool_name
from components.contract.aks.config import AksConfig
from components.contract.allocatable import Reserves, Shares, reserved_cpu
from components.contract.groups import NodeGroup
from components.contract.instances import InstanceType
from components.contract.kind_nodes import KindNodes
from components.contract.labels import WellKnownLabel
from components.contract.pools import PoolRole

POOL_LABELS: Final = ("agentpool", "kubernetes.azure.com/agentpool")
"""Labels with the agent pool's name, which differs between the groups of a pool.

https://learn.microsoft.com/azure/aks/use-labels
"""

MODE: Final = "kubernetes.azure.com/mode"
"""Label with the value ``system`` on the pool that a cluster is created with, ``user`` on all others."""

_CPU_SHARES: Final[Shares] = ((1, "0.06"), (1, "0.04"), (2, "0.02"), (None, "0.01"))
"""Shares of CPU that a node reserves: the figures of the table for 1 to 64 cores, and between them.

https://learn.microsoft.com/azure/aks/node-resource-reservations and Azure/karpenter-provider-azure 352646f5,
``pkg/providers/instancetype/instancetype.go`` (``reservedCPUTaxVCPU``).
"""

_MEMORY_BASE_MIB: Final = 50
_MEMORY_PER_POD_MIB: Final = 20
_MEMORY_SHARE_MAX: Final = 4
"""From Kubernetes 1.29 on: the page above. At most a quarter of the memory is reserved."""


def _memory(instance: InstanceType) -> int:
    return min(_MEMORY_BASE_MIB + _MEMORY_PER_POD_MIB * PODS_MAX, instance.memory_mib // _MEMORY_SHARE_MAX)


RESERVES: Final = Reserves(
    cpu_millis=reserved_cpu(_CPU_SHARES), memory_mib=_memory, pods=lambda _: PODS_MAX, disk_mib=0
)
"""Reserves of every agent pool. AKS reserves no disk, but evicts pods from a full one."""


def _labels(choices: AksConfig, group: NodeGroup) -> Mapping[str, str]:
    return {
        **node_labels(group),
        **dict.fromkeys(POOL_LABELS, pool_name(group, choices)),
        MODE: "system" if group.role is PoolRole.INITIAL else "user",
        WellKnownLabel.REGION.value: choices.location,
    }


NODES: Final[KindNodes[AksConfig]] = KindNodes(
    reserves=RESERVES,
    disk_gib=lambda choices: choices.root_volume_gib,
    labels=_labels,
    zone=lambda choices, number: f"{choices.location}-{number}",
)
