"""Agent pools: how groups of nodes map to AKS, and their names.

An agent pool has one machine type. Its immutable properties determine its name, so a change of one creates another pool
next to the old one, which is deleted afterwards.
"""

import hashlib
import json
import string
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from components.contract.aks.config import AksConfig
from components.contract.aks.spelling import SPELLING
from components.contract.groups import NodeGroup, by_zone
from components.contract.instances import InstanceType
from components.contract.lifecycle import Lifecycle
from components.contract.pool_size import PoolSize
from components.contract.pool_upgrade import (
    DRAIN_MINUTES_DEFAULT,
    SOAK_MINUTES_DEFAULT,
    UpgradeOrder,
    share_of,
)
from components.contract.pools import PoolRole
from components.contract.taints import AKS_SPOT_TAINT

PODS_MAX: Final = 110
"""Pods per node.

With the overlay network AKS allows 250, which no machine here needs.
https://learn.microsoft.com/azure/aks/quotas-skus-regions
"""

ANY_PRICE: Final = -1.0
"""Spot nodes are evicted for capacity only, not for price."""

SUFFIX_LENGTH: Final = 4
_DIGITS: Final = string.digits + string.ascii_lowercase


def agent_pools(choices: AksConfig, group: NodeGroup) -> Iterator[NodeGroup]:
    """Split a group of one shape by machine type and, for zonal pools, by zone.

    As with shapes, the group of the first type keeps the name and the minimum size, and the others may be empty. Each
    may grow to the maximum size.
    """
    for part in _by_type(group):
        yield from by_zone(part, choices.zones)


def _by_type(group: NodeGroup) -> Iterator[NodeGroup]:
    first, *others = group.instances
    yield replace(group, instances=(first,))
    for instance in others:
        size = PoolSize(min=0, max=group.size.max)
        yield replace(group, name=f"{group.name}-{_size_name(instance)}", size=size, instances=(instance,))


def _size_name(instance: InstanceType) -> str:
    return instance.name.removeprefix("Standard_").lower().replace("_", "-")


def placement_group(group: NodeGroup) -> str:
    """Return the name of the proximity placement group of a group whose machines are close to each other.

    The name contains the zone and the machine type, so that a change of either creates another placement group:
    existing machines bind theirs to one data center, which may not have the new type, and new machines start before
    old ones are deleted.
    """
    return f"{group.name}-{group.zone}-{_size_name(group.instances[0])}"


def pool_name(group: NodeGroup, choices: AksConfig) -> str:
    """Return the name of a group's agent pool, at most twelve lower-case letters and digits.

    The initial pool is created with the cluster and keeps the pool's own name, unless another one took over.
    """
    if is_inline(group, choices):
        return group.pool
    # The hash includes the pool's name, so that renaming a pool helps if two of its groups get the same suffix.
    hashed = json.dumps([group.pool, fixed_inputs(group, choices)], sort_keys=True)
    number = int.from_bytes(hashlib.sha256(hashed.encode()).digest())
    suffix = ""
    for _ in range(SUFFIX_LENGTH):
        number, digit = divmod(number, len(_DIGITS))
        suffix += _DIGITS[digit]
    return f"{group.pool}{suffix}"


def fixed_inputs(group: NodeGroup, choices: AksConfig) -> dict[str, Any]:
    """Return the properties that AKS cannot change in an existing pool, by the inputs' names in Python.

    https://learn.microsoft.com/azure/aks/manage-node-pools
    """
    is_spot = group.lifecycle is Lifecycle.SPOT
    # Left out if not chosen, so that the names of other pools do not change.
    profile = group.sharing.profile if group.sharing else ""
    reserved = {"capacity_reservation_group_id": group.reservation.id} if group.reservation else {}
    groups = f"{choices.group_id}/providers/Microsoft.Compute/proximityPlacementGroups"
    placed = {"proximity_placement_group_id": f"{groups}/{placement_group(group)}"} if group.is_close_together else {}
    divided = {"gpu_instance_profile": mig_input(profile)} if profile else {}
    return {
        "vm_size": group.instances[0].name,
        "availability_zones": [group.zone] if group.zone else sorted(choices.zones),
        # Plain data and not the subnet's output, because the pool's name depends on it.
        "vnet_subnet_id": choices.node_subnet_id,
        "max_pods": PODS_MAX,
        "os_type": "Linux",
        "os_disk_type": "Managed",
        "os_disk_size_gb": choices.root_volume_gib,
        "type": "VirtualMachineScaleSets",
        "enable_encryption_at_host": True,
        "enable_node_public_ip": False,
        "gpu_profile": {"driver": "Install"} if group.gpu_resource else None,
        "scale_set_priority": SPELLING.lifecycles[group.lifecycle],
        "scale_set_eviction_policy": "Delete" if is_spot else None,
        "spot_max_price": ANY_PRICE if is_spot else None,
        **divided,
        **reserved,
        **placed,
    }


def mig_input(profile: str) -> str:
    """Return AKS's name of a MIG profile, which says how many compute units a slice has: ``MIG1g`` for ``1g.10gb``.

    https://learn.microsoft.com/azure/aks/gpu-multi-instance
    """
    return f"MIG{profile.partition('.')[0]}"


def is_inline(group: NodeGroup, choices: AksConfig) -> bool:
    """Return whether the group's pool is created with the cluster, as a part of it."""
    return group.role is PoolRole.INITIAL and not choices.created_with_pool


def node_labels(group: NodeGroup) -> dict[str, str]:
    """Return the labels of the group's nodes on AKS.

    AKS itself adds the spot label and the spot taint. If the declared labels lacked the spot label, each update would
    try to remove it, which AKS refuses: https://learn.microsoft.com/azure/aks/spot-node-pool.
    """
    spot = {AKS_SPOT_TAINT.key: AKS_SPOT_TAINT.value} if group.lifecycle is Lifecycle.SPOT else {}
    return {**group.labels, **spot}


def node_taints(group: NodeGroup) -> list[str]:
    """Return the taints of the group's nodes in AKS's spelling, including the one that AKS adds."""
    return list(map(SPELLING.write_taint, group.taints))


def upgrade_settings(group: NodeGroup) -> dict[str, Any] | None:
    """Return the inputs for upgrades of a pool, by their names in Python; None for spot pools: AKS rejects them.

    AKS keeps the old value of a setting that is left out, so all limits are set if the stack file sets any. A system
    pool accepts no ``maxUnavailable``: https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling.
    """
    if group.lifecycle is Lifecycle.SPOT:
        return None
    nodes, given = group.upgraded_at_once, group.upgrade
    if given is None:
        return {"max_surge": nodes}
    adds = given.order is not UpgradeOrder.OLD_FIRST
    return {
        "max_surge": nodes if adds else "0",
        **({} if group.role is PoolRole.INITIAL else {"max_unavailable": "0" if adds else nodes}),
        "drain_timeout_in_minutes": _or(given.drain_minutes, DRAIN_MINUTES_DEFAULT),
        "node_soak_duration_in_minutes": _or(given.soak_minutes, SOAK_MINUTES_DEFAULT),
    }


def nodes_at_most(group: NodeGroup) -> int:
    """Return how many nodes the pool may have during an upgrade."""
    settings = upgrade_settings(group) or {"max_surge": "0"}
    return group.size.max + share_of(settings["max_surge"], group.size.max)


def _or(given: int | None, default: int) -> int:
    return default if given is None else given
