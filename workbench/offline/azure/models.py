"""Validates planned inputs against Microsoft's description of its API, in the version used for each type.

It covers known and required inputs, data types and most enumerations, and the patterns of some names. It does not cover
ranges or whether two values are compatible.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from workbench.offline.azure.facts import facts, resource
from workbench.offline.azure.inputs import TABLE, children, inputs_of
from workbench.offline.facts import Input
from workbench.offline.properties import UNKNOWN
from workbench.offline.provider import Problem
from workbench.offline.verdict import Verdict

NUMBERS: Final = frozenset({"integer", "number"})

OPAQUE: Final = frozenset({"any", "resource"})
"""Kinds without a description of their contents."""

NOUNS: Final = {"keys": "a list", "list": "a list", "map": "a map", "object": "an object", "string": "text"}
"""Display names of kinds other than numbers and booleans."""


def judge(type_: str, inputs: Mapping[str, Any]) -> Verdict:
    """Validate the inputs of one resource; unknown values are skipped and counted.

    Parameters
    ----------
    inputs
        Plain values; ``UNKNOWN`` for values that are not known yet.
    """
    verdict = Verdict([])
    _judge_members(type_, "", "", inputs, verdict)
    return verdict


def loose(type_: str) -> list[str]:
    """Return the inputs of a type for which only the data type is known."""
    free = (each for each in inputs_of(type_).values() if each.kind in {"string", *NUMBERS} and not each.values)
    return [each.path for each in free if each.path not in resource(type_).forms]


def unmodelled(type_: str) -> list[str]:
    """Return the inputs of a type whose contents are not described."""
    return [each.path for each in inputs_of(type_).values() if each.kind in OPAQUE]


def _judge_members(type_: str, fact: str, path: str, given: Mapping[str, Any], verdict: Verdict) -> None:
    """Validate the members of the object at ``path``, which is described by the input ``fact``."""
    known = children(type_, fact)
    for name, value in given.items():
        where = f"{path}.{name}" if path else name
        if name in known:
            _judge(type_, known[name], where, value, verdict)
        else:
            verdict.problems.append(Problem(where, f"unknown input of {type_} in {facts().release} (facts: {TABLE})"))
    for name in (name for name, each in known.items() if each.required and name not in given):
        where = f"{path}.{name}" if path else name
        verdict.problems.append(Problem(where, f"required by {type_}, but not given"))


def _judge(type_: str, known: Input, path: str, value: Any, verdict: Verdict) -> None:
    if value is UNKNOWN:
        verdict.unknown += 1
    elif known.kind in OPAQUE:
        verdict.unmodelled += 1
    elif known.kind in {"list", "keys"} and isinstance(value, list):
        for index, element in enumerate(value):
            _judge_inside(type_, known, f"{path}[{index}]", element, verdict)
    elif known.kind == "map" and isinstance(value, dict):
        for key, element in value.items():
            _judge_inside(type_, known, f'{path}["{key}"]', element, verdict)
    elif known.kind == "object" and isinstance(value, dict):
        _judge_members(type_, known.path, path, value, verdict)
    else:
        _judge_scalar(type_, known, path, value, verdict)


def _judge_inside(type_: str, known: Input, path: str, element: Any, verdict: Verdict) -> None:
    """Validate one element of a list or map."""
    if element is UNKNOWN:
        verdict.unknown += 1
    elif children(type_, known.path) and isinstance(element, dict):
        _judge_members(type_, known.path, path, element, verdict)
    elif known.values:
        _judge_scalar(type_, known, path, element, verdict)
    else:
        verdict.judged += 1


def _judge_scalar(type_: str, known: Input, path: str, value: Any, verdict: Verdict) -> None:
    verdict.judged += 1
    if reason := _wrong(type_, known, value):
        verdict.problems.append(Problem(path, f"{reason} ({resource(type_).api_version} of Azure's API)"))


def _wrong(type_: str, known: Input, value: Any) -> str:
    """Return why a value is invalid; empty if it is valid."""
    if known.values:
        allowed = facts().enumerations[known.values]
        listed = ", ".join(map(str, allowed))
        return "" if value in allowed else f"must be one of {listed}, given {value!r}"
    if known.kind in NUMBERS:
        whole = known.kind == "integer"
        fine = isinstance(value, int | float) and not isinstance(value, bool) and not (whole and value % 1)
        return "" if fine else f"must be a {'whole ' if whole else ''}number, given {value!r}"
    if known.kind == "boolean":
        return "" if isinstance(value, bool) else f"must be true or false, given {value!r}"
    if known.kind != "string" or not isinstance(value, str):
        return f"must be {NOUNS[known.kind]}, given {value!r}"
    form = resource(type_).forms.get(known.path)
    return "" if not form or re.fullmatch(form, value) else f"must match {form}, given {value!r}"
