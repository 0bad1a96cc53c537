"""What is known of one pod or node from the objects that a watch delivers."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from components.contract.labels import TRUE, LabelKey, WellKnownLabel
from components.contract.lifecycle import Lifecycle
from workbench.rehearsal.amounts import pod_amounts, quantities, whole_units
from workbench.rehearsal.play import labels
from workbench.rehearsal.record import AUTOSCALER, TAKEN, PodEnd, Reason

LEAVING: Final = "ToBeDeletedByClusterAutoscaler"
"""Taint of nodes that the autoscaler drains (kubernetes/autoscaler 1959f5f6, ``utils/taints/taints.go``)."""

_PREEMPTED: Final = "PreemptionByScheduler"
_DISRUPTIONS: Final = {
    "DeletionByTaintManager": "taint of its node",
    "EvictionByEvictionAPI": "eviction",
    "TerminationByKubelet": "its node",
    "DeletionByPodGC": "its node is gone",
}
"""Reasons of the condition DisruptionTarget:
https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions."""


_PLACING: Final = ("nodeSelector", "affinity", "tolerations", "priority", "priorityClassName", "overhead")
_OF_CONTAINERS: Final = ("resources", "restartPolicy")


@dataclass(kw_only=True)
class ObservedNode:
    """One node; moments are real, by the monotonic clock."""

    name: str
    labels: Mapping[str, str]
    manifest: Mapping[str, Any]
    """As last seen."""
    group: str
    created: float
    ready: float | None = None
    gone: float | None = None
    is_ready: bool = False
    is_leaving: bool = False
    """Whether the autoscaler is draining it."""
    cause: str = ""
    """Event that removes it."""

    def see(self, node: Mapping[str, Any], tick: float) -> None:
        """Update from a new state of the node."""
        self.manifest = node
        self.labels = node["metadata"].get("labels", {})
        conditions = node.get("status", {}).get("conditions", ())
        self.is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
        if self.is_ready and self.ready is None:
            self.ready = tick
        # Karpenter's nodes are first marked for deletion, then drained, then removed.
        self.is_leaving |= "deletionTimestamp" in node["metadata"]
        self.is_leaving |= any(taint["key"] == LEAVING for taint in node.get("spec", {}).get("taints", ()))

    @property
    def facts(self) -> dict[str, Any]:
        """Properties that a ``Place`` compares."""
        is_spot = self.labels.get(LabelKey.LIFECYCLE.value) == Lifecycle.SPOT.label_value
        kept = self.labels.get(LabelKey.RESERVED.value, Lifecycle.ON_DEMAND.value)
        return {
            "pool": self.labels.get(LabelKey.POOL.value, ""),
            "role": self.labels.get(LabelKey.ROLE.value, ""),
            "lifecycle": Lifecycle.SPOT.value if is_spot else kept,
            "zone": self.labels.get(WellKnownLabel.ZONE.value),
        }

    @property
    def node_pool(self) -> str:
        """The Karpenter NodePool that it belongs to; empty without one."""
        return self.labels.get(labels.NODE_POOL, "")

    @property
    def instance_type(self) -> str:
        """Its machine type; empty if its labels do not say."""
        return self.labels.get(WellKnownLabel.INSTANCE_TYPE.value, "")

    @property
    def allocatable(self) -> dict[str, int]:
        """CPU in millicores, memory in MiB and GPUs for pods."""
        return whole_units(dict(quantities(self.manifest.get("status", {}).get("allocatable", {}))))


@dataclass(kw_only=True)
class ObservedPod:
    """One pod; moments are real, by the monotonic clock."""

    name: str
    namespace: str
    uid: str
    labels: Mapping[str, str]
    kind: str
    created: float
    spec: Mapping[str, Any]
    amounts: Mapping[str, int]
    scheduled: float | None = None
    started: float | None = None
    ended: float | None = None
    end: PodEnd = PodEnd.WAITS
    cause: str = ""
    node: str | None = None
    replaces: str | None = None
    run_for: str | None = None
    """Value of the annotation ``RUN_FOR``."""
    exists: bool = True
    reasons: list[Reason] = field(default_factory=list)

    @property
    def unit(self) -> str:
        """The arrival that it belongs to; empty without one."""
        return self.labels.get(labels.UNIT, "")

    @property
    def part(self) -> str:
        """Its part in the unit."""
        return self.labels.get(labels.PART, "")

    @property
    def path(self) -> str:
        """Path of the pod at the API server."""
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.name}"

    @property
    def is_running(self) -> bool:
        """Whether its containers run."""
        return self.started is not None and self.ended is None

    @property
    def is_lost(self) -> bool:
        """Whether it was lost or preempted."""
        return self.end in TAKEN


def ending(pod: Mapping[str, Any], node: ObservedNode | None, deleted_because: str) -> tuple[PodEnd, str] | None:
    """Return how a pod has ended, and why it was lost or deleted; None if it has not.

    A pod with a deletion timestamp has ended: simulated nodes end pods at once.

    Parameters
    ----------
    pod
        The pod.
    node
        Its node, if there is one.
    deleted_because
        Why the scenario, or an operator that is played, deletes its unit; empty if none does.
    """
    status, metadata = pod.get("status", {}), pod["metadata"]
    phase = status.get("phase")
    if phase == "Succeeded":
        return PodEnd.SUCCEEDED, ""
    if phase != "Failed" and not metadata.get("deletionTimestamp"):
        return None
    conditions: Iterable[Mapping[str, str]] = status.get("conditions", ())
    reason = next((each.get("reason", "") for each in conditions if each["type"] == "DisruptionTarget"), "")
    if reason == _PREEMPTED:
        text = next(each.get("message", "") for each in conditions if each["type"] == "DisruptionTarget")
        return PodEnd.PREEMPTED, text
    if deleted_because:
        return PodEnd.DELETED, deleted_because
    if taker := _taker(node, reason):
        return PodEnd.LOST, taker
    return (PodEnd.FAILED, str(status.get("message", ""))) if phase == "Failed" else (PodEnd.DELETED, "its owner")


def _taker(node: ObservedNode | None, reason: str) -> str:
    """Return what removed a pod: its node's event, the autoscaler, or what disrupted it; empty if nothing did."""
    disruption = _DISRUPTIONS.get(reason, "disruption") if reason else ""
    if node is None:
        return disruption
    if node.cause:
        return f"{node.cause} of node {node.name}"
    if node.is_leaving:
        return f"{AUTOSCALER} removed node {node.name}"
    if node.gone is not None:
        return f"removal of node {node.name}"
    return f"{disruption}, node {node.name}" if disruption else ""


def kind_of(pod: Mapping[str, Any]) -> str:
    """Return the kind of a pod as the record has it."""
    metadata = pod["metadata"]
    marks = metadata.get("labels", {})
    if kind := marks.get(labels.KIND):
        return str(kind)
    if any(owner["kind"] == "DaemonSet" for owner in metadata.get("ownerReferences", ())):
        return "daemon-set"
    return "core-service" if marks.get(LabelKey.CORE_SERVICE.value) == TRUE else ""


class Specs:
    """Specs of pods, each kept once: pods of one work have the same."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[dict[str, Any], dict[str, int]]] = {}

    def of(self, spec: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
        """Return the fields of a spec that decide where its pod may run, and its requests; others may be secret."""
        kept: dict[str, Any] = {key: spec[key] for key in _PLACING if key in spec}
        for kind in ("containers", "initContainers"):
            if kind in spec:
                kept[kind] = [{key: each[key] for key in _OF_CONTAINERS if key in each} for each in spec[kind]]
        return self._known.setdefault(
            json.dumps(kept, sort_keys=True), (kept, whole_units(pod_amounts(spec, "requests")))
        )
