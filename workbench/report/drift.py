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

_POOLS: Final = "agentPoolProfiles"
"""List of the agent pools of a cluster, in which AKS also lists those that are separate resources.

The order of the list is not documented, and the engine compares by position.
"""

_TAINTS: Final = "spec.taints"

_COMPARED_HERE: Final = {NODE: _TAINTS, _CLUSTER: _POOLS}
"""Beginning of the paths that are compared here, by type. The engine compares these lists by position."""

_Difference = tuple[str, Literal["add", "delete", "update"]]
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
        Agent pools that are separate resources. They are not compared in the list of their cluster.
    """
    if step.op not in ("same", "update") or not step.old or not step.new:
        return step
    if step.token == _CLUSTER:
        step = _pools_by_name(step, step.old, step.new, pools)
    reported, moved = step.detailed_diff or {}, _autoscaled(step)
    found = dict[str, PropertyDiff]()
    for path, kind in _compared(step):  # an element that is gone and one that was added can have the same place
        found[path] = PropertyDiff(diffKind="update" if path in found else kind)
    for path, diff in reported.items():
        # Of the same place the engine also reports whether the change replaces the resource.
        if not _is_compared_here(step, path) or (path in found and diff.kind.startswith(found[path].kind)):
            found[path] = diff
    kept = {path: diff for path, diff in found.items() if path not in moved and not _is_power(step, path)}
    if kept == reported:
        return step
    return step.model_copy(
        update={
            "op": "update" if kept else "same",
            "detailed_diff": kept,
            # Top-level keys are less precise than the paths, and include the differences removed here.
            "keys": None,
            "diffs": None,
        }
    )


def _compared(step: Step) -> Iterator[_Difference]:
    """Yield the differences that the engine does not report, or reports only by position."""
    if not (old := step.old) or not (new := step.new):
        return
    if step.token == _CLUSTER:
        yield from _profiles(old.inputs, new.inputs)
    # A patch declares only some fields of a foreign object; all others belong to its owner.
    if not step.token.startswith("kubernetes:") or step.token.endswith("Patch"):
        return
    for path in added_by_others(old.inputs, old.outputs, new.outputs):
        if not _is_compared_here(step, path):
            yield path, "add"
    if step.token == NODE:
        yield from _taints(old.inputs, new.outputs)


def _is_compared_here(step: Step, path: str) -> bool:
    return step.token in _COMPARED_HERE and path.startswith(_COMPARED_HERE[step.token])


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


def _pools_by_name(step: Step, old: State, new: State, others: frozenset[str]) -> Step:
    """Return a cluster's result with both lists of agent pools in the declared order and without ``others``.

    The engine applies live differences to the declared list by position. So the live values are taken from Azure's
    response.
    """
    declared, before, after = (_named(held) for held in (old.inputs, old.outputs, new.outputs))
    inputs = {key for pool in (*declared.values(), *_named(new.inputs).values()) for key in pool}
    # `up` does not change the recorded list: a pool that it removed stays in it until the next refresh. The program
    # declares only system pools in the list.
    others |= {name for name, pool in declared.items() if pool.get("mode") == "User" and name not in after}
    ours = {name: pool for name, pool in declared.items() if name not in others}
    live = [
        _live(pool, before.get(name, pool), after[name], inputs) if name in after else {} for name, pool in ours.items()
    ]
    live += [pool for name, pool in after.items() if name not in others and name not in ours]
    return step.model_copy(update={"old": _with_pools(old, list(ours.values())), "new": _with_pools(new, live)})


def _named(properties: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {str(pool["name"]): pool for pool in properties.get(_POOLS) or () if pool.get("name")}


def _live(
    declared: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], inputs: set[str]
) -> Mapping[str, Any]:
    """Return the declared inputs of a pool with what changed in the ``inputs`` that Azure returned."""
    kept = {key: value for key, value in declared.items() if before.get(key) == after.get(key)}
    return kept | {key: value for key, value in after.items() if key in inputs and value != before.get(key)}


def _with_pools(state: State, pools: list[Mapping[str, Any]]) -> State:
    held = {name: {**getattr(state, name), _POOLS: pools} for name in ("inputs", "outputs")}
    return state.model_copy(update=held)


def _profiles(declared: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[_Difference]:
    expected, current = _named(declared), _named(live)
    for index, (name, pool) in enumerate(expected.items()):
        if name not in current:
            yield f"{_POOLS}[{index}]", "delete"
            continue
        for key in sorted(pool.keys() | current[name].keys()):
            if pool.get(key) != current[name].get(key):
                yield f"{_POOLS}[{index}].{key}", "update"
    for index, pool in enumerate(live.get(_POOLS) or ()):
        if pool and pool.get("name") not in expected:
            yield f"{_POOLS}[{index}]", "add"


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
