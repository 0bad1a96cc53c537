"""Converts the engine's steps to one change per resource.

The steps of a replacement (``create-replacement``, ``replace``, ``delete-replaced``) become one change. An import
counts as a creation. A resource that is deleted and also kept under the same URN counts as replaced. Component
resources and providers are reported only when replaced. Reads and refreshes are not changes.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from workbench.report import dangers
from workbench.report.drift import as_found, pools_of_their_own
from workbench.report.event_payloads import Op, State, Step
from workbench.report.events import Stream
from workbench.report.model import Change, Operation, PropertyChange
from workbench.report.values import MISSING, Place, at, both_shown, is_marked, marked_keys, parts, safe
from workbench.report.words import DESTRUCTIVE

_OPERATIONS: Final[Mapping[Op, Operation | None]] = {
    "replace": Operation.REPLACE,
    "create-replacement": Operation.REPLACE,
    "delete-replaced": Operation.REPLACE,
    "read-replacement": Operation.REPLACE,
    "import-replacement": Operation.REPLACE,
    "discard-replaced": Operation.REPLACE,
    "delete": Operation.DELETE,
    "create": Operation.CREATE,
    "import": Operation.CREATE,
    "update": Operation.UPDATE,
    "same": None,
    "read": None,
    "refresh": None,
    "discard": None,
    "remove-pending-replace": None,
}
_RANK: Final = {operation: rank for rank, operation in enumerate(Operation)}
_PROVIDERS: Final = "pulumi:providers:"
PROTECTED: Final = "protected resource"
"""Kind of a resource that only the engine's ``protect`` option marks as protected."""


class Changed(NamedTuple):
    """A change and its protected kind; empty if the resource is not protected."""

    change: Change
    kind: str


def is_drift(stream: Stream) -> bool:
    """Return whether a stream is from a refresh alone, without the program."""
    planned = {step.op for step in stream.steps}
    return planned == {"refresh"} and "refresh" not in {step.op for step in stream.results}


def changes_of(stream: Stream) -> list[Changed]:
    """Return all changes, most severe first, then by type and name."""
    groups = _by_urn(_steps(stream)).values()
    scratch = frozenset(dangers.scratch_accounts((steps[0].token, _known(steps)) for steps in groups))
    changes = (_changed(steps, scratch) for steps in groups)
    return sorted(
        (each for each in changes if each), key=lambda c: (_RANK[c.change.operation], c.change.type, c.change.urn)
    )


def unchanged(stream: Stream) -> int:
    """Return the number of unchanged resources, without component resources and providers."""
    groups = _by_urn(_steps(stream)).values()
    return sum(not _operation(group) and not _is_frame(group[0]) for group in groups)


def _steps(stream: Stream) -> list[Step]:
    if not is_drift(stream):
        return [*stream.steps, *stream.failures]
    pools = pools_of_their_own(stream.results)
    return [as_found(step, pools) for step in stream.results]  # only the results of a refresh contain its differences


def _by_urn(steps: Iterable[Step]) -> Mapping[str, list[Step]]:
    groups = defaultdict[str, list[Step]](list)
    for step in steps:
        groups[step.urn].append(step)
    return groups


def _is_frame(step: Step) -> bool:
    return step.is_component or step.token.startswith(_PROVIDERS)


def _operation(steps: Iterable[Step]) -> Operation | None:
    operations = {operation for step in steps if (operation := _OPERATIONS[step.op])}
    stays = {step.op for step in steps} & {"same", "create", "update"}
    if Operation.DELETE in operations and stays:
        return Operation.REPLACE
    return min(operations, key=_RANK.__getitem__, default=None)


def _changed(steps: list[Step], scratch: Collection[str]) -> Changed | None:
    operation, first = _operation(steps), steps[0]
    if operation is None or (_is_frame(first) and operation is not Operation.REPLACE):
        return None
    states = [state for step in steps for state in (step.old, step.new) if state]
    is_protected = any(state.protect for state in states)
    kind, state_lost = _loss(operation, steps, scratch)
    if operation in DESTRUCTIVE and is_protected:
        kind = kind or PROTECTED
    return Changed(
        Change(
            operation=operation,
            urn=safe(first.urn),
            type=safe(first.token),
            name=safe(first.name),
            properties=_properties(steps, operation),
            carries_state=state_lost,
            protected=is_protected,
        ),
        kind,
    )


def _known(steps: list[Step]) -> dict[str, Any]:
    """Return the properties of a resource before its change; those of a new one as planned."""
    states = [*(step.old for step in steps if step.old), *(step.new for step in steps if step.new)]
    # After a refresh the outputs are what is live.
    return {**states[0].inputs, **states[0].outputs} if states else {}


def _loss(operation: Operation, steps: list[Step], scratch: Collection[str]) -> tuple[str, str]:
    """Return the protected kind of what a change loses, and its description; both empty if it loses nothing."""
    first, known = steps[0], _known(steps)
    if operation in DESTRUCTIVE:
        kind = dangers.kind_of(first.token, first.name, known, scratch)
        return kind, dangers.carries_state(first.token, known)
    if operation is Operation.UPDATE and not first.is_component:
        after = next((step.new for step in reversed(steps) if step.new and step.op == "update"), None)
        return dangers.shrinks(first.token, known, after.inputs) if after else ("", "")
    return "", ""


def _properties(steps: list[Step], operation: Operation) -> tuple[PropertyChange, ...]:
    if operation in (Operation.CREATE, Operation.DELETE):
        return ()
    changes = {change.path: change for step in steps for change in _differences(step)}
    return tuple(sorted(changes.values(), key=lambda change: (not change.forces_replacement, change.path)))


def _differences(step: Step) -> Iterator[PropertyChange]:
    old, new = step.old, step.new
    if not old or not new or step.op == "delete-replaced":
        return
    held = (old.inputs, old.outputs, new.inputs, new.outputs)
    secret = frozenset(key for properties in held for key in marked_keys(properties))
    for path, kind in _kinds(step, old, new).items():
        where = parts(path)
        before = MISSING if kind.startswith("add") else _value(old, where)
        after = MISSING if kind.startswith("delete") else _value(new, where)
        for inner, one, other in _inside(before, after):
            shown = both_shown(Place(step.token, (*where, *inner), secret), one, other)
            yield PropertyChange(
                safe(path + "".join(map(_below, inner))), *shown, forces_replacement=kind.endswith("-replace")
            )


def _inside(before: Any, after: Any) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Return path and both values of each difference between mappings; other values are compared as a whole."""
    if not isinstance(before, dict) or not isinstance(after, dict) or is_marked(before) or is_marked(after):
        yield (), before, after
        return
    for key in sorted(before.keys() | after.keys()):
        one, other = before.get(key, MISSING), after.get(key, MISSING)
        if one is MISSING or other is MISSING or one != other:
            yield from (((key, *path), a, b) for path, a, b in _inside(one, other))


def _below(key: str) -> str:
    """Return a key as the continuation of a path."""
    text = _as_path(key)
    return text if text.startswith("[") else f".{text}"


def _kinds(step: Step, old: State, new: State) -> Mapping[str, str]:
    """Return the kind of each difference by path, from whatever detail the provider reported."""
    kinds: dict[str, str] = {path: diff.kind for path, diff in (step.detailed_diff or {}).items()}
    reported = {parts(path)[:1] for path in kinds}
    for key in step.keys or ():
        if parts(key)[:1] not in reported:
            kinds[key] = "update-replace"
    reported |= {parts(key)[:1] for key in step.keys or ()}
    for key in step.diffs or ():
        if parts(key)[:1] not in reported:
            kinds[key] = "update"
    if not kinds and step.op == "update":
        keys = old.outputs.keys() | new.outputs.keys()
        kinds = {_as_path(key): "update" for key in keys if old.outputs.get(key) != new.outputs.get(key)}
    return kinds


def _as_path(key: str) -> str:
    return key if parts(key) == (key,) else f"[{json.dumps(key)}]"


def _value(state: State, path: tuple[str | int, ...]) -> Any:
    value = at(state.inputs, path)
    return at(state.outputs, path) if value is MISSING else value
