"""Compares an agent pool with its group, and their limits of upgrades; AKS keeps limits that an update leaves out."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic.alias_generators import to_camel

from components.contract.aks.agent_pools import upgrade_settings
from components.contract.groups import NodeGroup
from components.contract.pool_upgrade import PoolUpgrade
from workbench.engine.clouds.aks.cluster_components import AksPool, SystemPool
from workbench.engine.clouds.blocker import Blocker


def all_limits(group: NodeGroup) -> dict[str, Any]:
    """Return all limits of a group's upgrades, also those that its stack file leaves to AKS."""
    return upgrade_settings(replace(group, upgrade=group.upgrade or PoolUpgrade())) or {}


def other_limits(pool: AksPool, group: NodeGroup, limits: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the live limits that differ from ``limits``; a limit that Azure does not report has its default."""
    defaults = {to_camel(key): value for key, value in all_limits(replace(group, upgrade=None)).items()}
    return {key: live for key, live, _ in differences({**defaults, **pool.upgrade_settings}, limits or {})}


def kept_limits(pool: AksPool, group: NodeGroup) -> Iterator[Blocker]:
    """Yield a blocker for an update without limits if AKS keeps a limit that excludes the others."""
    kept = str(pool.upgrade_settings.get("maxUnavailable") or "0")
    if group.upgrade is None and upgrade_settings(group) and kept.rstrip("%") != "0":
        yield Blocker(
            f"pools.{group.pool}.upgrade",
            f"is not set, and the {pool} keeps maxUnavailable {kept}, with which AKS accepts no maxSurge",
            "AKS keeps a limit that is left out",
            "Set `upgrade: {}` and run `up`; then the key may be removed.",
        )


def notes_on_limits(pool: AksPool, group: NodeGroup) -> Iterator[str]:
    """Yield notes on limits that differ from the stack file and that an update does not change."""
    found = other_limits(pool, group, all_limits(group))
    if found and isinstance(pool, SystemPool):
        yield f"The {pool} keeps {_listed(found)}; to apply the stack file: {pool.limit(all_limits(group))}."
    elif group.upgrade is None and (kept := {key: found[key] for key in found if key != "maxSurge"}):
        yield (
            f"The {pool} keeps {_listed(kept)}, which the stack file does not set: AKS keeps what is left out. "
            f"`upgrade: {{}}` in pools.{group.pool} sets the defaults."
        )


def _listed(limits: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in limits.items())


def differences(reported: Mapping[str, Any], declared: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Return name, live value and declared value of each differing input; skips values that Azure does not report."""
    live = {_plain(key): (key, value) for key, value in reported.items()}
    for name, value in declared.items():
        key, current = live.get(_plain(name), (name, None))
        if value is not None and current is not None and _comparable(current) != _comparable(value):
            yield key, current, value


def _plain(name: str) -> str:
    """Return a normalised name: ``vnet_subnet_id`` and ``vnetSubnetID`` become equal."""
    return name.replace("_", "").lower()


def _comparable(value: Any) -> Any:
    """Return a value as Azure compares it: case-insensitive text, unordered lists."""
    if isinstance(value, list):
        return sorted(map(_comparable, value))
    return value.lower() if isinstance(value, str) else value
