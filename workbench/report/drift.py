"""Filters the results of a refresh down to real drift."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from policies.resource import Resource
from policies.values import NotJudgeableError, Value
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.node_groups.local import NODE
from workbench.report.event_payloads import PropertyDiff, State, Step
from workbench.report.foreign_managed_fields import added_by_others
from workbench.report.values import MISSING, at, parts

_AGENT_POOL: Final = "azure-native:containerservice:AgentPool"
_CLUSTER: Final = "azure-native:containerservice:ManagedCluster"

STATES_TAINTS: Final = re.compile(
    r"node\.(cloudprovider\.)?kubernetes\.io/|(ToBeDeletedBy|DeletionCandidateOf)ClusterAutoscaler"
)
"""Prefixes of the keys of taints that follow a node's state.

https://kubernetes.io/docs/reference/labels-annotations-taints/, and ``utils/taints/taints.go`` of the autoscaler.
"""

_POWER: Final = re.compile(r"(agentPoolProfiles\[\d+\]\.)?powerState(\.code)?")
"""Whether a cluster on AKS or one of its pools is stopped: not part of a stack, and never changed by `up`."""

_PROFILE: Final = re.compile(r"agentPoolProfiles\[(\d+)\]")
"""An agent pool in the list of its cluster, in which AKS has those too that are resources of their own.

The order of the list is not documented, and the engine compares by position.
"""

_TAINTS: Final = "spec.taints"

_Difference = tuple[str, Literal["add", "delete"]]
"""A path and the kind of its difference."""


def pools_of_their_own(results: Iterable[Step]) -> frozenset[str]:
    """Return the names of the agent pools of AKS that are resources, from all results of a refresh."""
    states = [state for step in results if step.token == _AGENT_POOL for state in (step.old, step.new) if state]
    return frozenset(str(state.inputs.get("agentPoolName")) for state in states)


def as_found(step: Step, pools: frozenset[str] = frozenset()) -> Step:
    """Return the result of a refresh for a resource, as a step whose differences are drift.

    The size of an elastic node group within its declared bounds is not drift, since the autoscaler owns it; nor are
    sizes and power states that office hours set, and taints that follow a node's state. Fields that others added to a
    Kubernetes object are drift, although the engine does not report them.

    Parameters
    ----------
    pools
        Agent pools that are resources of their own. They are not compared in the list of their cluster.
    """
    if step.op not in ("same", "update") or not step.old or not step.new:
        return step
    reported, unreported = step.detailed_diff or {}, dict(_unreported(step, step.old, step.new))
    moved = _autoscaled(step)
    kept = {
        path: diff
        for path, diff in reported.items()
        if path not in moved
        and not _is_taint(step, path)
        and not _is_power(step, path)
        and not _is_listed_only(step, path, pools)
    }
    if kept == reported and not unreported:
        return step
    return step.model_copy(
        update={
            "op": "update" if kept or unreported else "same",
            "detailed_diff": {path: PropertyDiff(diffKind=kind) for path, kind in unreported.items()} | kept,
            # Top-level keys are less precise than the paths, and include the differences removed here.
            "keys": None,
            "diffs": None,
        }
    )


def _unreported(step: Step, old: State, new: State) -> Iterator[_Difference]:
    # A patch declares only some fields of a foreign object; all others belong to its owner.
    if not step.token.startswith("kubernetes:") or step.token.endswith("Patch"):
        return
    for path in added_by_others(old.inputs, old.outputs, new.outputs):
        if not _is_taint(step, path):
            yield path, "add"
    if step.token == NODE:
        yield from _taints(old.inputs, new.outputs)


def _is_taint(step: Step, path: str) -> bool:
    # Compared here: the engine compares taints by list position, and one manager owns the whole list.
    return step.token == NODE and path.startswith(_TAINTS)


def _taints(declared: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[_Difference]:
    expected, current = ([_taint(each) for each in _taint_list(node)] for node in (declared, live))
    yield from ((f"{_TAINTS}[{index}]", "delete") for index, taint in enumerate(expected) if taint not in current)
    for index, taint in enumerate(current):
        if taint not in expected and not STATES_TAINTS.match(str(taint.get("key"))):
            yield f"{_TAINTS}[{index}]", "add"


def _taint_list(node: Mapping[str, Any]) -> list[Any]:
    taints = at(node, parts(_TAINTS))
    return taints if isinstance(taints, list) else []


def _taint(taint: Any) -> dict[str, Any]:
    # Ignores the time at which it was added; an empty value equals a missing one.
    return {key: value for key in ("key", "value", "effect") if (value := at(taint, (key,))) not in (MISSING, "")}


def _is_power(step: Step, path: str) -> bool:
    return step.token.startswith("azure-native:containerservice:") and _POWER.fullmatch(path) is not None


def _is_listed_only(step: Step, path: str, pools: frozenset[str]) -> bool:
    """Return whether a difference in a cluster's list of agent pools is about ``pools``, or the order of the list."""
    if step.token != _CLUSTER or not (place := _PROFILE.match(path)):
        return False
    before, now = (state.inputs.get("agentPoolProfiles") or [] if state else [] for state in (step.old, step.new))
    # `up` leaves the list as it is: what it removed is there until the next refresh. It declares system pools only.
    live = {_name(each) for each in now}
    pools |= {_name(each) for each in before if each.get("mode") == "User" and _name(each) not in live}
    there = [_name(listed[int(place[1])]) for listed in (before, now) if int(place[1]) < len(listed)]
    if pools.issuperset(there):
        return True
    if len(there) > 1 and there[0] == there[1]:  # the same pool: this is a difference of its own
        return False
    rest = [{_name(each): each for each in listed if _name(each) not in pools} for listed in (before, now)]
    return rest[0].keys() == rest[1].keys() and all(_is_as(rest[0][name], rest[1][name]) for name in rest[0])


def _name(profile: Mapping[str, Any]) -> str:
    return str(profile.get("name"))


def _is_as(declared: Any, live: Any) -> bool:
    """Return whether a live agent pool has all that is declared; what else it has are AKS's defaults."""
    if isinstance(declared, Mapping) and isinstance(live, Mapping):
        return all(_is_as(value, live.get(key)) for key, value in declared.items() if key != "powerState")
    return bool(declared == live)


def _autoscaled(step: Step) -> set[str]:
    """Return the paths of sizes that the autoscaler or a schedule may have changed."""
    pairs = zip(_groups(step, step.old), _groups(step, step.new), strict=False)
    return {path for declared, live in pairs for path in _moved(declared, live)}


def _groups(step: Step, state: State | None) -> list[NodeGroupFacts]:
    try:
        return list(node_groups(Resource(step.token, step.name, step.urn, Value(state.inputs if state else {}))))
    except NotJudgeableError:
        return []


def _moved(declared: NodeGroupFacts, live: NodeGroupFacts) -> Iterator[str]:
    try:
        scheduled, least, most = declared.scheduled_minimums, declared.size_min, declared.size_max
        size, low, elastic = live.size_desired, live.size_min, declared.is_elastic
    except NotJudgeableError:  # unknown values count as drift
        return
    if scheduled and low in scheduled:
        yield declared.min_path
        least = low
    if least is None or most is None or size is None:
        return
    if least <= size <= most if elastic else scheduled and size in scheduled:
        yield declared.desired_path
