"""What makes an agent pool invalid, inline in its cluster or on its own.

Sources: https://learn.microsoft.com/azure/aks/use-system-pools, .../create-node-pools, .../spot-node-pool,
.../use-labels, .../use-node-taints and .../cluster-autoscaler-overview.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, Final

from emulators.azure.server.kinds.kind import at
from emulators.azure.server.refusals import bad_request, invalid, unchangeable
from emulators.azure.server.said import Fixed, fixed
from emulators.core.refusal import Refusal

NAME: Final = r"[a-z][a-z0-9]{0,11}"

SPOT_KEY: Final = "kubernetes.azure.com/scalesetpriority"
SPOT_TAINT: Final = f"{SPOT_KEY}=spot:NoSchedule"
"""What AKS puts on the nodes of every spot pool, as label and as taint."""

SYSTEM_TAINT: Final = "CriticalAddonsOnly=true:NoSchedule"

NODES_MAX: Final = 1000
PODS: Final = range(10, 251)
SYSTEM_PODS_MIN: Final = 30
DRAIN_MINUTES: Final = range(5, 1441)
SOAK_MINUTES: Final = range(31)

TOKEN: Final = "azure-native:containerservice:AgentPool"  # noqa: S105 a type

REPLACED: Final = ("gpuInstanceProfile", "vmSize")
"""Properties that a pool is made with beside those that the facts name: the plug-in replaces the pool."""

EFFECTS: Final = ("NoExecute", "NoSchedule", "PreferNoSchedule")

_DIVIDED: Final = re.compile(r"Standard_N[CD]\w*_(A100_v4|H100_v5|H200_v5)|Standard_ND96asr_v4")
"""Sizes with A100, H100 or H200: https://learn.microsoft.com/azure/aks/gpu-multi-instance. Words assumed."""

_TAINT: Final = re.compile(rf"([^=:\s]+)=([^=:\s]*):({'|'.join(EFFECTS)})")
_OWN_LABELS: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")
_UPGRADES: Final = re.compile(r"\d+%?")


def is_spot(pool: Mapping[str, Any]) -> bool:
    """Return whether a pool's properties say so."""
    return bool(pool.get("scaleSetPriority") == "Spot")


def is_system(pool: Mapping[str, Any]) -> bool:
    """Return whether AKS puts its own pods there."""
    return bool(pool.get("mode") == "System")


def check(name: str, pool: Mapping[str, Any], *, is_new: bool) -> None:
    """Refuse properties that do not go together, whatever else is in the cluster.

    Parameters
    ----------
    pool
        With all defaults.
    is_new
        Whether it is about to be made.
    """
    if not re.fullmatch(NAME, name):
        raise invalid("agentPool.name", f"{name!r} must be lower case letters and digits, at most 12, a letter first.")
    if not re.fullmatch(r"Standard_\w+", pool.get("vmSize", "")):
        raise invalid("agentPoolProfile.vmSize", f"The VM size {pool.get('vmSize', 'of nothing')} is not available.")
    _check_size(pool, is_new=is_new)
    _check_machines(pool)
    if is_system(pool):
        _check_system(pool)
    if is_spot(pool):
        _check_spot(pool)
    else:
        _check_upgrades(pool)
    _check_labels(pool)
    _check_taints(pool)


def check_change(old: Mapping[str, Any], new: Mapping[str, Any], sent_taints: list[str] | None) -> None:
    """Refuse a change of what a pool is made with, or of what AKS itself put there.

    Parameters
    ----------
    new
        As it would be kept.
    sent_taints
        Taints of the request; None if it has none.
    """
    for each in (*fixed(TOKEN), *(Fixed(f"properties.{name}") for name in REPLACED)):
        before, after = at({"properties": old}, each.path), at({"properties": new}, each.path)
        if each.is_changed(before, after) and not _same_id(after, before):
            raise unchangeable(each.path)
    if is_spot(old) and sent_taints is not None and SPOT_TAINT not in sent_taints:
        raise unchangeable("properties.nodeTaints")


def check_all(pools: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse what a cluster's pools cannot be together."""
    if not any(map(is_system, pools.values())):
        raise Refusal("OperationNotAllowed", 400, "There has to be at least one system agent pool.")
    if all(any(_blocks(taint) for taint in pool.get("nodeTaints") or []) for pool in pools.values()):
        told = "Operation failed due to insufficient nodes for system pod scheduling. Placing custom taints on all node"
        raise Refusal("CanNotTaintAllAgentPools", 400, f"{told} pools is not supported.")
    for pool in filter(is_system, pools.values()):
        if any(_blocks(taint) for taint in pool.get("nodeTaints") or []):
            but = "except 'CriticalAddonsOnly' taint or taint effect is 'PreferNoSchedule'"
            told = f"Placing custom taints on system pool is not supported({but})."
            raise Refusal("SystemPoolHasRestrictedTaint", 400, f"{told} See https://aka.ms/aks/system-taints.")
    networks = {(pool.get("vnetSubnetID") or "").lower().rpartition("/subnets/")[0] for pool in pools.values()}
    if len(networks) > 1:
        raise invalid("agentPoolProfile.vnetSubnetID", "All agent pools must be in the same virtual network.")


def _check_size(pool: Mapping[str, Any], *, is_new: bool) -> None:
    count, least, most = pool.get("count"), pool.get("minCount"), pool.get("maxCount")
    if count is None:
        raise Refusal("InvalidParameter", 400, "Required parameter properties.count is missing (null).")
    if not 0 <= count <= NODES_MAX:
        raise invalid("agentPoolProfile.count", f"It must be 0 to {NODES_MAX}, given {count}.")
    if not pool.get("enableAutoScaling"):
        for name, bound in (("minCount", least), ("maxCount", most)):
            if bound is not None:
                raise invalid(f"agentPoolProfile.{name}", f"It cannot be set without enableAutoScaling, given {bound}.")
        return
    if least is None or most is None:
        raise invalid("agentPoolProfile.minCount", "minCount and maxCount must be set with enableAutoScaling.")
    if not 0 <= least <= most <= NODES_MAX or most == 0:
        raise invalid("agentPoolProfile.minCount", f"minCount {least} must be 0 to maxCount {most}, that 1 to 1000.")
    if is_new and not least <= count <= most:
        raise invalid("agentPoolProfile.count", f"It must be from minCount {least} to maxCount {most}, given {count}.")


def _check_machines(pool: Mapping[str, Any]) -> None:
    pods, zones = pool.get("maxPods"), pool.get("availabilityZones") or []
    if pods not in PODS:
        raise invalid("agentPoolProfile.maxPods", f"It must be {PODS[0]} to {PODS[-1]}, given {pods}.")
    if pool.get("gpuInstanceProfile") and not _DIVIDED.fullmatch(pool["vmSize"]):
        raise invalid("agentPoolProfile.gpuInstanceProfile", f"GPUs of {pool['vmSize']} have no instances.")
    for zone in zones:
        if zone not in {"1", "2", "3"}:
            raise Refusal("AvailabilityZoneNotSupported", 400, f"Zone {zone} is not supported in this region.")


def _check_system(pool: Mapping[str, Any]) -> None:
    least = pool.get("minCount") if pool.get("enableAutoScaling") else pool.get("count")
    if is_spot(pool):
        raise invalid("agentPoolProfile.scaleSetPriority", "A system pool cannot be of priority Spot.")
    if not least:
        raise invalid("agentPoolProfile.count", "A system pool must have at least one node.")
    if pool["maxPods"] < SYSTEM_PODS_MIN:
        raise invalid("agentPoolProfile.maxPods", f"A system pool takes {SYSTEM_PODS_MIN} pods or more.")


def _check_spot(pool: Mapping[str, Any]) -> None:
    if (pool.get("upgradeSettings") or {}).get("maxSurge"):
        raise invalid("agentPoolProfile.upgrade.maxSurge", "Spot pools can't set max surge.")


def _check_upgrades(pool: Mapping[str, Any]) -> None:
    """Refuse limits of upgrades: https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling.

    The words are assumed.
    """
    settings, path = pool.get("upgradeSettings") or {}, "agentPoolProfile.upgradeSettings"
    nodes = dict.fromkeys(("maxSurge", "maxUnavailable"), 0)
    for name in nodes:
        given = settings.get(name) or "0"
        if not _UPGRADES.fullmatch(given):
            raise invalid(f"{path}.{name}", f"It must be a number or per cent, given {given}.")
        nodes[name] = int(given.rstrip("%"))
    if settings.get("maxSurge") is not None and not any(nodes.values()):
        raise invalid(f"{path}.maxSurge", "It cannot be 0 where maxUnavailable is 0.")
    if all(nodes.values()):
        raise invalid(f"{path}.maxUnavailable", "It cannot be set with maxSurge; the two together are a preview.")
    if nodes["maxUnavailable"] and is_system(pool):
        raise invalid(f"{path}.maxUnavailable", "It cannot be set for a system pool.")
    for name, limits in (("drainTimeoutInMinutes", DRAIN_MINUTES), ("nodeSoakDurationInMinutes", SOAK_MINUTES)):
        minutes = settings.get(name)
        if minutes is not None and minutes not in limits:
            raise invalid(f"{path}.{name}", f"It must be {limits[0]} to {limits[-1]}, given {minutes}.")


def _check_labels(pool: Mapping[str, Any]) -> None:
    for key, value in (pool.get("nodeLabels") or {}).items():
        prefix = key.rpartition("/")[0]
        if prefix.endswith("kubernetes.azure.com"):
            if not (is_spot(pool) and key == SPOT_KEY and value == "spot"):
                told = f"Invalid node label key {key}. The 'kubernetes.azure.com' prefix is preserved by aks system"
                raise bad_request(f"{told} labels")
        elif _is_in(prefix, ("kubernetes.io", "k8s.io")) and not _is_in(prefix, _OWN_LABELS):
            told = (
                f"Node label keys in the 'kubernetes.io' or 'k8s.io' namespace must begin with an allowed prefix, {key}"
            )
            raise bad_request(f"{told} does not. See https://aka.ms/aks-node-labels-116.")


def _check_taints(pool: Mapping[str, Any]) -> None:
    seen = set()
    for text in pool.get("nodeTaints") or []:
        taint = _TAINT.fullmatch(text)
        if not taint:
            wanted = f"key=value:Effect, the effect one of {', '.join(EFFECTS)}"
            raise invalid("agentPoolProfile.nodeTaints", f"{text!r} must be {wanted}.")
        if taint[1].startswith("kubernetes.azure.com/") and not (is_spot(pool) and text == SPOT_TAINT):
            raise invalid("agentPoolProfile.nodeTaints", f"The prefix of {text!r} is reserved for AKS.")
        if (taint[1], taint[3]) in seen:
            raise invalid("agentPoolProfile.nodeTaints", f"{taint[1]}:{taint[3]} is there twice.")
        seen.add((taint[1], taint[3]))


def _blocks(taint: str) -> bool:
    """Return whether a taint keeps off what AKS itself runs."""
    return taint not in {SYSTEM_TAINT, SPOT_TAINT} and not taint.endswith(":PreferNoSchedule")


def _is_in(prefix: str, domains: Iterable[str]) -> bool:
    return any(prefix == domain or prefix.endswith(f".{domain}") for domain in domains)


def _same_id(one: Any, other: Any) -> bool:
    return isinstance(one, str) and isinstance(other, str) and one.startswith("/") and one.lower() == other.lower()


def versions_in(pools: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Return the versions that pools' properties state."""
    return chain.from_iterable(
        [pool["orchestratorVersion"]] if pool.get("orchestratorVersion") else [] for pool in pools
    )
