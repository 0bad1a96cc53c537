"""What a refresh found: all that is drift, and nothing that is none."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from policies.resource import Resource
from policies.values import NotJudgeableError, Value
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.node_groups.local import NODE
from workbench.report.events import PropertyDiff, State, Step
from workbench.report.foreign_managed_fields import added_by_others
from workbench.report.values import MISSING, at, parts

_STATES_TAINTS: Final = re.compile(
    r"node\.(cloudprovider\.)?kubernetes\.io/|(ToBeDeletedBy|DeletionCandidateOf)ClusterAutoscaler"
)
"""Start of the keys of taints that come and go with a node's state, whoever wrote the list last.

https://kubernetes.io/docs/reference/labels-annotations-taints/, and ``utils/taints/taints.go`` of the autoscaler.
"""

_TAINTS: Final = "spec.taints"

_Found = tuple[str, Literal["add", "delete"]]
"""A path, and how the property differs there."""


def as_found(step: Step) -> Step:
    """Return what a refresh came to for a resource, as a step whose differences are drift.

    None is the size of an elastic node group between its declared bounds: it is the autoscaler's. Nor are taints that
    come and go with a node's state. What others added to a Kubernetes object is drift, though the engine is silent.
    """
    if step.op not in ("same", "update") or not step.old or not step.new:
        return step
    told, found = step.detailed_diff or {}, dict(_unreported(step, step.old, step.new))
    moved = _autoscaled(step)
    kept = {path: diff for path, diff in told.items() if path not in moved and not _is_taint(step, path)}
    if kept == told and not found:
        return step
    return step.model_copy(
        update={
            "op": "update" if kept or found else "same",
            "detailed_diff": {path: PropertyDiff(diffKind=kind) for path, kind in found.items()} | kept,
            # Keys of the first level say less than the paths, and name what was taken out here.
            "keys": None,
            "diffs": None,
        }
    )


def _unreported(step: Step, old: State, new: State) -> Iterator[_Found]:
    # Of an object of somebody else we declare some fields, and all others are others' to write.
    if not step.token.startswith("kubernetes:") or step.token.endswith("Patch"):
        return
    for path in added_by_others(old.inputs, old.outputs, new.outputs):
        if not _is_taint(step, path):
            yield path, "add"
    if step.token == NODE:
        yield from _taints(old.inputs, new.outputs)


def _is_taint(step: Step, path: str) -> bool:
    # Compared here: the engine goes by their places in the list, and the list's owner is whoever wrote any of them.
    return step.token == NODE and path.startswith(_TAINTS)


def _taints(declared: Mapping[str, Any], live: Mapping[str, Any]) -> Iterator[_Found]:
    wanted, there = ([_taint(each) for each in _taint_list(node)] for node in (declared, live))
    yield from ((f"{_TAINTS}[{index}]", "delete") for index, taint in enumerate(wanted) if taint not in there)
    for index, taint in enumerate(there):
        if taint not in wanted and not _STATES_TAINTS.match(str(taint.get("key"))):
            yield f"{_TAINTS}[{index}]", "add"


def _taint_list(node: Mapping[str, Any]) -> list[Any]:
    taints = at(node, parts(_TAINTS))
    return taints if isinstance(taints, list) else []


def _taint(taint: Any) -> dict[str, Any]:
    # When it came is no part of what it does, and an empty value is not kept.
    return {key: value for key in ("key", "value", "effect") if (value := at(taint, (key,))) not in (MISSING, "")}


def _autoscaled(step: Step) -> set[str]:
    """Return the paths of sizes that the autoscaler may have moved to where they are."""
    pairs = zip(_groups(step, step.old), _groups(step, step.new), strict=False)
    return {declared.desired_path for declared, live in pairs if _is_in_bounds(declared, live)}


def _groups(step: Step, state: State | None) -> list[NodeGroupFacts]:
    try:
        return list(node_groups(Resource(step.token, step.name, step.urn, Value(state.inputs if state else {}))))
    except NotJudgeableError:
        return []


def _is_in_bounds(declared: NodeGroupFacts, live: NodeGroupFacts) -> bool:
    try:
        least, most, size = declared.size_min, declared.size_max, live.size_desired
        elastic = declared.is_elastic
    except NotJudgeableError:  # what cannot be told is drift
        return False
    return elastic and least is not None and most is not None and size is not None and least <= size <= most
