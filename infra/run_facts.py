"""Facts that ``igz-clusters`` passes to a program in environment variables, and whether the run may go on."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pulumi

from components.contract.existing.cluster_inventory import INVENTORY_VARIABLE, ClusterInventory
from components.contract.existing.config import ExistingConfig
from components.contract.live_sizes import LIVE_SIZES_VARIABLE, load
from components.contract.local.config import LocalConfig
from components.contract.policy_guard import ATTACHED, GUARD_VARIABLE, PolicyGuard
from infra.config import StackConfig

KUBECONFIG: Final = "IGZ_CLUSTERS_LOCAL_KUBECONFIG"
"""Set by ``igz-clusters``. It is never the user's KUBECONFIG: simulated nodes must not get into a real cluster."""


class RunRefusedError(Exception):
    """The run must not go on: a fact is missing or wrong, or the stack's guard requires policy packs."""


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run that are not in the stack file."""

    kubeconfig: str | None
    """Path of the local cluster's kubeconfig; None for the other kinds."""
    sighting: ClusterInventory | None
    """Inventory of an existing cluster; None for the other kinds. The program itself never queries the cluster."""
    live_sizes: Mapping[str, int]
    """Nodes of the existing groups by name, as read from the refreshed state; empty if unknown."""


def run_facts(config: StackConfig, way: str) -> RunFacts:
    """Return the facts about a stack in the environment variables.

    Parameters
    ----------
    config
        The stack.
    way
        How to run the program with the facts, as a sentence for messages.

    Raises
    ------
    RunRefusedError
        A fact that the stack's kind needs is missing, unreadable or about another cluster.
    """
    is_local = isinstance(config.cluster, LocalConfig)
    kubeconfig = os.environ.get(KUBECONFIG) if is_local else None
    if is_local and not kubeconfig:
        raise RunRefusedError(f"{KUBECONFIG} is not set. {way}")
    sighting = _sighting(config.cluster, way) if isinstance(config.cluster, ExistingConfig) else None
    try:
        live_sizes = load(os.environ.get(LIVE_SIZES_VARIABLE, ""))
    except ValueError as error:
        raise RunRefusedError(
            f"{LIVE_SIZES_VARIABLE} must hold numbers of nodes by group, as JSON: {error}. Unset it."
        ) from None
    return RunFacts(kubeconfig, sighting, live_sizes)


def _sighting(cluster: ExistingConfig, way: str) -> ClusterInventory:
    file = os.environ.get(INVENTORY_VARIABLE)
    if not file:
        raise RunRefusedError(f"{INVENTORY_VARIABLE} is not set, so the cluster's nodes are unknown. {way}")
    try:
        seen = ClusterInventory.from_json(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunRefusedError(f"{INVENTORY_VARIABLE} names {file}, which cannot be read: {error}. {way}") from None
    if seen.cluster_id != cluster.cluster_id:
        raise RunRefusedError(
            f"{file} describes cluster {seen.cluster_id}, but the stack is for {cluster.cluster_id}. {way}"
        )
    return seen


def demand_the_guard(guard: PolicyGuard, way: str) -> None:
    """Stop an update without policy packs if the stack's guard requires them; previews always run.

    Parameters
    ----------
    guard
        The guard of the stack.
    way
        How to run an update with packs, as a sentence for messages.

    Raises
    ------
    RunRefusedError
        The guard is ``required`` and the run is not guarded. With ``warn`` the run goes on with a warning.
    """
    if pulumi.runtime.is_dry_run() or os.environ.get(GUARD_VARIABLE) == ATTACHED:
        return
    found = f"policyGuard of this stack is '{guard}', but this update is not guarded. {way}"
    if guard is PolicyGuard.REQUIRED:
        raise RunRefusedError(found)
    if guard is PolicyGuard.WARN:
        pulumi.log.warn(found)
