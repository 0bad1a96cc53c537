"""All checks, and a verification of a cluster."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from workbench.verification import addons, mlrun, nodes, nuclio, scheduling
from workbench.verification.contract import Contract
from workbench.verification.deviation import Outcome, Verification
from workbench.verification.objects import declared_objects
from workbench.verification.snapshot import Snapshot

Check: TypeAlias = Callable[[Contract, Snapshot], Outcome]

CHECKS: Final[Mapping[str, Check]] = {
    "node-lifecycle": nodes.lifecycles,
    "node-labels": nodes.labels,
    "node-taints": nodes.taints,
    "node-ready": nodes.readiness,
    "node-count": nodes.counts,
    "initial-group": nodes.initial_group,
    "stray-nodes": nodes.strays,
    "priority-classes": scheduling.priority_classes,
    "global-default-class": scheduling.global_default,
    "default-storage-class": addons.default_storage_class,
    "gpu-plugin": addons.gpus,
    "autoscaler": addons.autoscaler_runs,
    "autoscaler-groups": addons.autoscaler_groups,
    "admission-bound": scheduling.admission,
    "namespace-marks": scheduling.marks,
    "network-isolation": scheduling.networks,
    "mlrun-settings": mlrun.settings,
    "mlrun-keys": mlrun.keys,
    "mlrun-restart": mlrun.restarts,
    "nuclio-settings": nuclio.settings,
}
"""Checks of facts by id: what no single declared object shows."""

OBJECTS: Final = "objects"
"""Id of the check of all declared objects, which leaves out what another check reports."""


def verify(contract: Contract, snapshot: Snapshot) -> Verification:
    """Compare a cluster with the contract.

    Parameters
    ----------
    contract
        What the stack demands.
    snapshot
        What is there.
    """
    outcomes = {name: check(contract, snapshot) for name, check in CHECKS.items()}
    reported = [each.place for outcome in outcomes.values() for each in outcome.deviations]
    return Verification(contract.stack, {OBJECTS: declared_objects(contract, snapshot, reported), **outcomes})
