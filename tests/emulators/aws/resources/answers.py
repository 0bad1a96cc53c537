"""Descriptions of AWS's read back as the inputs that would make them, and as outputs."""

import json
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

import jmespath
from botocore.model import Shape

from emulators.aws.resources.kinds import DescribeCall, Kind
from workbench.offline.aws.inputs import children
from workbench.offline.aws.models import alike, innermost, service_model
from workbench.offline.facts import Input


def live(type_: str, kind: Kind, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs that a description tells, without tags; what AWS does not have is left out."""
    found = {}
    for name, known in children(type_, "").items():
        place = _place(kind, name)
        value = jmespath.search(place, description) if place else None
        given = _given(type_, kind, known, value)
        if given is not None and name != "tags":
            found[name] = given
    return found


def tells(kind: Kind, name: str) -> bool:
    """Return whether descriptions of a type tell an input, if it is there."""
    return _place(kind, name) is not None


def _place(kind: Kind, name: str) -> str | None:
    if name in kind.told:
        return kind.told[name]
    if name in kind.carried | kind.untold:
        return None
    member = alike(innermost(_shape(kind.look)).members, name)
    return f'"{member}"' if member else None


def _shape(look: DescribeCall) -> Shape:
    shape: Shape = service_model(look.service).operation_model(look.operation).output_shape
    place = look.shape or look.at.partition("[")[0]
    for member in () if place == "@" else place.split("."):
        shape = innermost(shape).members[member]
    return shape


def _given(type_: str, kind: Kind, known: Input, value: Any) -> Any:
    """Return a value of AWS's in the form of the input ``known``; None if there is none."""
    if value is None:
        return None
    inside = children(type_, known.path)
    if known.kind in ("list", "set"):
        elements = [_inside(type_, kind, inside, each) if inside else _text(each) for each in value]
        return sorted(elements, key=_ordered) if known.kind == "set" else elements
    if known.kind == "map":
        return tags(value)
    if inside:
        first = (value[0] if value else None) if isinstance(value, list) else value
        return _inside(type_, kind, inside, first) if first is not None else None
    if known.kind == "integer":
        return int(value)
    return bool(value) if known.kind == "boolean" else _text(value)


def _inside(type_: str, kind: Kind, inside: Mapping[str, Input], value: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for name, known in inside.items():
        member = alike(value, name)
        place = kind.told.get(known.path) or (f'"{member}"' if member else None)
        given = _given(type_, kind, known, jmespath.search(place, value)) if place else None
        if given is not None:
            found[name] = given
    return found


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, sort_keys=True) if isinstance(value, dict | list) else str(value)


def output(value: Any) -> Any:
    """Return a value of AWS's as the engine can keep it."""
    if isinstance(value, dict):
        return {key: output(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [output(inner) for inner in value]
    return _text(value) if isinstance(value, datetime) else value


def tags(value: Any) -> dict[str, str]:
    """Return tags or other keys with values as a map, without those that AWS itself sets."""
    if not isinstance(value, Mapping):
        pairs = [{name.removeprefix("Tag"): inner for name, inner in each.items()} for each in value or []]
        value = {each["Key"]: each["Value"] for each in pairs}
    return {key: text for key, text in value.items() if not key.startswith("aws:")}


def in_form_of(type_: str, kind: Kind, given: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs as they are found, as far as they were given; what means the same stays word by word.

    A program that says nothing of an input leaves it to AWS, so nothing else of what is found is an input.
    """
    result = {}
    for name, value in given.items():
        known = children(type_, "").get(name)
        if known is None or not tells(kind, name):
            result[name] = value
        elif name in found:
            result[name] = _in_form_of(type_, kind, known, value, found[name])
    return result


def _in_form_of(type_: str, kind: Kind, known: Input, given: Any, found: Any) -> Any:
    inside = children(type_, known.path)
    if isinstance(given, Mapping) and isinstance(found, Mapping) and inside:
        kept = {name: value for name, value in given.items() if inside.get(name, known).path in kind.untold}
        named = {name: value for name, value in given.items() if name in inside and name in found}
        return kept | {n: _in_form_of(type_, kind, inside[n], value, found[n]) for n, value in named.items()}
    if isinstance(given, list) and isinstance(found, list):
        if known.kind == "set":
            names = {name for each in given if isinstance(each, Mapping) for name in each}
            found = [_only(names, each) if names else each for each in found]
            return given if Counter(map(_ordered, given)) == Counter(map(_ordered, found)) else found
        paired = zip(given, found, strict=False)
        return [*(_in_form_of(type_, kind, known, *pair) for pair in paired), *found[len(given) :]]
    return given if given == found or same_document(given, found) else found


def _only(names: Collection[str], value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: inner for name, inner in value.items() if name in names}


def same_document(one: Any, other: Any) -> bool:
    """Return whether two texts are the same JSON: AWS keeps what a policy says, not how it was written."""
    if isinstance(one, str) and isinstance(other, str) and one[:1] in "{[" and other[:1] in "{[":
        with suppress(ValueError):
            return bool(json.loads(one) == json.loads(other))
    return False


def _ordered(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
