"""Disruption budgets that would stop an upgrade, which drains the nodes that it replaces.

The eviction API is not called: a budget is judged as the API server would judge an eviction now
(https://github.com/kubernetes/kubernetes/blob/master/pkg/registry/core/pod/storage/eviction.go).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from policies.values import Value
from policies.views.selectors import selects
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.cloud import CloudStack
from workbench.engine.clouds.cluster_component import Group

KINDS: Final = "poddisruptionbudgets,pods,nodes"
"""Kinds of objects to read, by kubectl's names."""

_NAMED: Final = 3
"""Maximum number of pods named; the rest are counted."""

_NEVER_HELD: Final = ("Pending", "Succeeded", "Failed")
"""Phases in which the API server evicts a pod regardless of its budget."""

_NOT_DRAINED: Final = ("DaemonSet", "Node")
"""Owners whose pods a drain does not evict."""


@dataclass(frozen=True)
class BudgetFindings:
    """What stops an upgrade, and what only slows it down."""

    blockers: tuple[Blocker, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Pod:
    """A running pod on a node that the upgrade drains."""

    content: Mapping[str, Any]
    group: Group

    @property
    def name(self) -> str:
        metadata = self.content["metadata"]
        return f"{metadata['namespace']}/{metadata['name']}"

    @property
    def is_ready(self) -> bool:
        conditions = self.content["status"].get("conditions") or ()
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def budget_findings(cloud: CloudStack, groups: Sequence[Group], items: Sequence[Mapping[str, Any]]) -> BudgetFindings:
    """Judge the budgets of pods on nodes that an upgrade replaces.

    Parameters
    ----------
    cloud
        The stack's cloud, with its stack file.
    groups
        The groups whose nodes are replaced.
    items
        All objects of ``KINDS``, as the API server returns them.
    """
    budgets = [item for item in items if item["kind"] == "PodDisruptionBudget"]
    guarded: dict[tuple[int, ...], list[_Pod]] = defaultdict(list)
    for pod in _pods(cloud, groups, items):
        if own := tuple(index for index, budget in enumerate(budgets) if _selects(budget, pod.content)):
            guarded[own].append(pod)
    blockers, notes = list[Blocker](), list[str]()
    for own, pods in guarded.items():
        first, *others = (budgets[index] for index in own)
        found = _of_several([first, *others], pods) if others else _of_one(first, pods)
        if isinstance(found, Blocker):
            blockers.append(found)
        elif found:
            notes.append(found)
    return BudgetFindings(tuple(blockers), tuple(notes))


def _pods(cloud: CloudStack, groups: Sequence[Group], items: Iterable[Mapping[str, Any]]) -> Iterator[_Pod]:
    by_name = {group.name: group for group in groups}
    nodes, pods = dict[str, Group](), list[Mapping[str, Any]]()
    for item in items:
        if item["kind"] == "Node":
            group = by_name.get((item["metadata"].get("labels") or {}).get(cloud.group_label, ""))
            nodes |= {item["metadata"]["name"]: group} if group else {}
        elif item["kind"] == "Pod" and _is_evicted(item):
            pods.append(item)
    for pod in pods:
        if group := nodes.get(pod["spec"].get("nodeName", "")):
            yield _Pod(pod, group)


def _is_evicted(pod: Mapping[str, Any]) -> bool:
    metadata = pod["metadata"]
    if pod.get("status", {}).get("phase") in _NEVER_HELD or metadata.get("deletionTimestamp"):
        return False
    return not any(owner["kind"] in _NOT_DRAINED for owner in metadata.get("ownerReferences") or ())


def _selects(budget: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    if budget["metadata"]["namespace"] != pod["metadata"]["namespace"]:
        return False
    return selects(Value(budget["spec"].get("selector")), Value(pod["metadata"].get("labels") or {}))


def _of_several(budgets: Sequence[Mapping[str, Any]], pods: Sequence[_Pod]) -> Blocker:
    return Blocker(
        " and ".join(map(_name, budgets)),
        f"select {_listed(pods)} together",
        "Kubernetes evicts no pod of several budgets",
        f"Delete all but one, or change their selectors; until then {_stops(pods)}.",
    )


def _of_one(budget: Mapping[str, Any], pods: Sequence[_Pod]) -> Blocker | str | None:
    spec, status = budget["spec"], budget.get("status") or {}
    expected, wanted, ready = (status.get(key, 0) for key in ("expectedPods", "desiredHealthy", "currentHealthy"))
    spares_unready = spec.get("unhealthyPodEvictionPolicy") != "AlwaysAllow"
    held = [pod for pod in pods if pod.is_ready or spares_unready]
    unready = [pod for pod in held if not pod.is_ready]
    if not held or status.get("disruptionsAllowed"):
        return None
    if failure := _failure(status):
        return Blocker(
            _name(budget),
            f"allows no disruption, because its pods cannot be counted: {failure}",
            "Kubernetes must find the controllers of its pods, and their scale",
            f"Give it minAvailable as a number instead, or delete it while you upgrade; until then {_stops(held)}.",
        )
    if 0 < expected <= wanted:
        limit = ", ".join(f"{key} {spec[key]}" for key in ("maxUnavailable", "minAvailable") if key in spec)
        return Blocker(
            _name(budget),
            f"lets no pod go ({limit or 'no limit'} of {expected}), and the upgrade evicts {_listed(held)}",
            "it must allow at least one disruption",
            "Raise maxUnavailable, lower minAvailable or add a replica; or delete the budget while you upgrade. Until "
            f"then {_stops(held)}.",
        )
    if unready and (ready < wanted or not wanted):
        return Blocker(
            _name(budget),
            f"wants {wanted} ready pods and has {ready}, and the upgrade evicts {_listed(unready)}, not ready",
            "Kubernetes evicts a pod that is not ready only if enough others are ready",
            "Make them ready, or set `unhealthyPodEvictionPolicy: AlwaysAllow` in the budget's spec; until then "
            f"{_stops(unready)}.",
        )
    if unready and len(unready) == len(held):
        return None
    return (
        f"{_name(budget)} allows no disruption now: {ready} of its {expected} pods are ready, and it wants {wanted}. "
        f"The upgrade waits before it evicts {_listed(held)}."
    )


def _failure(status: Mapping[str, Any]) -> str:
    """Return why Kubernetes could not compute a budget; empty if it could.

    https://github.com/kubernetes/kubernetes/blob/master/pkg/controller/disruption/disruption.go, ``failSafe``.
    """
    failed = (each for each in status.get("conditions") or () if each.get("reason") == "SyncFailed")
    return next((str(each.get("message") or "no reason given").rstrip(".") for each in failed), "")


def _name(budget: Mapping[str, Any]) -> str:
    metadata = budget["metadata"]
    return f"PodDisruptionBudget {metadata['namespace']}/{metadata['name']}"


def _listed(pods: Sequence[_Pod]) -> str:
    rest = f" and {len(pods) - _NAMED} more" if len(pods) > _NAMED else ""
    return f"{', '.join(sorted(pod.name for pod in pods)[:_NAMED])}{rest}"


def _stops(pods: Iterable[_Pod]) -> str:
    groups = dict.fromkeys(f"the {pod.group}" for pod in pods)
    return f"the upgrade of {', '.join(groups)} stops there"
