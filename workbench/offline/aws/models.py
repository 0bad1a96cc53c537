"""Validates planned inputs against botocore's service models, AWS's own description of its API.

The models cover required members, enumerations, lengths, ranges, sizes of lists and maps, and most patterns. They do
not cover whether a subnet exists or whether two values are compatible.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, Final

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StructureShape

from workbench.offline.aws.inputs import children, inputs_of
from workbench.offline.aws.operations import OPERATIONS, Request
from workbench.offline.properties import UNKNOWN
from workbench.offline.provider import Problem
from workbench.offline.verdict import Verdict

NUMBERS: Final = frozenset({"integer", "long", "float", "double"})


@dataclass(frozen=True)
class Place:
    """The location of an input in an API request, and the shape of its value there."""

    request: Request
    shape: Shape
    member: str
    """Name of the member in the enclosing structure."""


def judge(type_: str, inputs: Mapping[str, Any]) -> Verdict:
    """Validate the inputs of one resource; unknown values are skipped and counted.

    Parameters
    ----------
    inputs
        Plain values; ``UNKNOWN`` for values that are not known yet.
    """
    verdict = Verdict([])
    main = OPERATIONS[type_][0]
    verdict.problems.extend(_missing(type_, "", inputs, Place(main, _shape(main), ""), ""))
    for name in inputs.keys() & children(type_, "").keys():
        _judge(type_, name, name, inputs[name], verdict)
    return verdict


@cache
def places(type_: str) -> Mapping[str, Place | None]:
    """Return the place of each input of a type by path; None if no model covers it."""
    found: dict[str, Place | None] = {}
    for path in inputs_of(type_):
        found[path] = _named(type_, path) or _alike(type_, path, found)
    return found


def unmodelled(type_: str) -> list[str]:
    """Return the inputs of a type that no model covers; for an uncovered object, only the object itself."""
    covered = places(type_)
    bare = [path for path, place in covered.items() if place is None and not _covers_inside(path, covered)]
    return [path for path in bare if _outer(path) not in bare]


def _covers_inside(path: str, covered: Mapping[str, Place | None]) -> bool:
    return any(place and inner.startswith((f"{path}.", f"{path}[]")) for inner, place in covered.items())


def loose(type_: str) -> list[str]:
    """Return the inputs of a type for which the model gives only the data type and no limits."""
    return [path for path, place in places(type_).items() if place and _has_no_limit(innermost(place.shape))]


def _has_no_limit(shape: Shape) -> bool:
    limits = {key for key in ("min", "max") if key in shape.metadata}
    if shape.type_name == "string":
        return not (shape.enum or limits or _pattern(shape.metadata.get("pattern", "")))
    return shape.type_name in NUMBERS and not limits


# --- Finding the place -----------------------------------------------------------------------------------------------


_LOADER: Final = Loader()
"""Shared, since each loader scans botocore's folder."""

_ONE_AT_A_TIME: Final = Lock()


def service_model(name: str) -> ServiceModel:
    """Return botocore's model of a service, such as ``eks``; thread-safe."""
    with _ONE_AT_A_TIME:  # each thread would load megabytes otherwise
        return _service_model(name)


@cache
def _service_model(name: str) -> ServiceModel:
    return ServiceModel(_LOADER.load_service_model(name, "service-2"), name)


def _shape(request: Request) -> StructureShape:
    return service_model(request.service).operation_model(request.operation).input_shape


def _named(type_: str, path: str) -> Place | None:
    for request in OPERATIONS[type_]:
        if place := request.members.get(path):
            # For nested inputs the innermost member counts, for others the outermost, as in the request's requirements.
            return _walk(request, place, -1 if "." in path else 0)
    return None


def _walk(request: Request, place: str, known_as: int = 0) -> Place:
    """Return the place at a dotted path of members; raises ``KeyError`` for a typo in the table."""
    shape: Shape = _shape(request)
    members = place.split(".")
    for member in members:
        shape = _structure(shape).members[member]
    return Place(request, shape, members[known_as])


def _alike(type_: str, path: str, found: Mapping[str, Place | None]) -> Place | None:
    """Return the place whose member has the same name, ignoring case."""
    outer, name = _outer(path), path.rpartition(".")[2]
    if outer:
        around = found[outer]
        return _member(around.request, around.shape, name) if around else None
    for request in OPERATIONS[type_]:
        if request.inside is not None:
            start = _walk(request, request.inside).shape if request.inside else _shape(request)
            if place := _member(request, start, name):
                return place
    return None


def _member(request: Request, shape: Shape, name: str) -> Place | None:
    inner = innermost(shape)
    member = alike(inner.members, name) if isinstance(inner, StructureShape) else None
    return Place(request, inner.members[member], member) if member else None


def alike(members: Iterable[str], name: str) -> str | None:
    """Return the member for an input, ignoring case and the plural that Pulumi uses for lists."""
    spellings = {name.lower(), name.lower().removesuffix("s")}
    return next((member for member in members if member.lower() in spellings), None)


def innermost(shape: Shape) -> Shape:
    """Return the element shape of nested lists; other shapes unchanged."""
    while isinstance(shape, ListShape):
        shape = shape.member
    return shape


def _structure(shape: Shape) -> StructureShape:
    inner = innermost(shape)
    if not isinstance(inner, StructureShape):
        raise KeyError(f"{inner.name} has no members")
    return inner


def _outer(path: str) -> str:
    return path.rpartition(".")[0].removesuffix("[]")


# --- Judging a value --------------------------------------------------------------------------------------------------


def _judge(type_: str, fact: str, path: str, value: Any, verdict: Verdict) -> None:
    """Validate the value of the input ``fact`` at ``path`` in this resource."""
    place, inside = places(type_).get(fact), children(type_, fact)
    if value is UNKNOWN:
        verdict.unknown += 1
    elif isinstance(value, list):
        if place:
            verdict.problems.extend(_size(place, place.shape, path, value))
        for index, element in enumerate(value):
            _judge(type_, fact, f"{path}[{index}]", element, verdict)
    elif isinstance(value, dict) and inside:
        if place and isinstance(innermost(place.shape), StructureShape):
            verdict.problems.extend(_missing(type_, fact, value, place, path))
        for name in value.keys() & inside.keys():
            _judge(type_, inside[name].path, f"{path}.{name}", value[name], verdict)
    elif place is None:
        verdict.unmodelled += 1
    elif isinstance(value, dict):
        _judge_map(place, path, value, verdict)
    else:
        _judge_scalar(place, innermost(place.shape), path, value, verdict)


def _judge_map(place: Place, path: str, value: Mapping[str, Any], verdict: Verdict) -> None:
    """Validate a map, which the API expects as a map or as a list of keys and values, as for most tags."""
    shape, inner = place.shape, innermost(place.shape)
    verdict.problems.extend(_size(place, shape, path, value))
    if isinstance(shape, MapShape):
        keys, values = shape.key, shape.value
    elif isinstance(inner, StructureShape):
        keys, values = (
            next((s for m, s in inner.members.items() if m.endswith(end)), None) for end in ("Key", "Value")
        )
    else:
        keys = values = None
    for key, element in value.items():
        if keys is None or values is None:
            verdict.unmodelled += 1
            continue
        _judge_scalar(place, keys, f'{path}["{key}"] (the key)', key, verdict)
        if element is UNKNOWN:
            verdict.unknown += 1
        else:
            _judge_scalar(place, values, f'{path}["{key}"]', element, verdict)


def _judge_scalar(place: Place, shape: Shape, path: str, value: Any, verdict: Verdict) -> None:
    if value is UNKNOWN:
        verdict.unknown += 1
        return
    verdict.judged += 1
    reason = wrong(shape, value)
    if reason:
        verdict.problems.append(Problem(path, f"{reason} ({_source(place.request)})"))


def wrong(shape: Shape, value: Any) -> str:
    """Return why a text, number or boolean does not match its shape; empty if it does."""
    kind, limits = shape.type_name, shape.metadata
    if kind in NUMBERS:
        number = _number(value, whole=kind in ("integer", "long"))
        return _range(limits, number, f"{number:g}", "") if number is not None else f"must be a number, given {value!r}"
    if kind == "boolean":
        fine = isinstance(value, bool) or value in ("true", "false")
        return "" if fine else f"must be true or false, given {value!r}"
    if kind == "string":
        return _wrong_text(shape, limits, value)
    return ""


def _wrong_text(shape: Shape, limits: Mapping[str, Any], value: Any) -> str:
    if not isinstance(value, str):
        return f"must be text, given {value!r}"
    if shape.enum:
        return "" if value in shape.enum else f"must be one of {', '.join(shape.enum)}, given {value!r}"
    if reason := _range(limits, len(value), f"{len(value)} characters", " characters"):
        return reason
    pattern = _pattern(limits.get("pattern", ""))
    return "" if pattern is None or pattern.fullmatch(value) else f"must match {pattern.pattern}, given {value!r}"


@cache
def _pattern(text: str) -> re.Pattern[str] | None:
    """Return a compiled pattern; None if Python does not support it, as with Unicode classes."""
    try:
        # AWS matches the whole text even without anchors.
        return re.compile(text) if text else None
    except re.error:
        return None


def _number(value: Any, *, whole: bool) -> float | None:
    """Return a number; some inputs are numbers as text."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return None if isinstance(value, bool) or (whole and not number.is_integer()) else number


def _range(limits: Mapping[str, Any], amount: float, shown: str, unit: str) -> str:
    low, high = limits.get("min"), limits.get("max")
    if low is not None and amount < low:
        return f"must be at least {low}{unit}, given {shown}"
    if high is not None and amount > high:
        return f"must be at most {high}{unit}, given {shown}"
    return ""


def _size(place: Place, shape: Shape, path: str, value: Any) -> Iterator[Problem]:
    if isinstance(shape, ListShape | MapShape):
        reason = _range(shape.metadata, len(value), f"{len(value)} entries", " entries")
        if reason:
            yield Problem(path, f"{reason} ({_source(place.request)})")


def _missing(type_: str, fact: str, given: Mapping[str, Any], place: Place, path: str) -> Iterator[Problem]:
    """Yield a problem for each required member of the structure at ``place`` that no given input sets."""
    request, shape = place.request, _structure(place.shape)
    sources: dict[str, list[str]] = {}
    for name, known in children(type_, fact).items():
        inner = places(type_)[known.path]
        if inner and inner.request is request:
            sources.setdefault(inner.member, []).append(name)
    excused = set() if fact else {*request.supplied, request.inside}
    for member in shape.required_members:
        names = sources.get(member, [])
        if member not in excused and not any(name in given for name in names):
            missing = " or ".join(names) or member
            yield Problem(f"{path}.{missing}" if path else missing, f"is required ({_source(request)}), not given")


def _source(request: Request) -> str:
    return f"{request.service}:{request.operation}"
