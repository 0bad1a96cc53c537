"""Converts inputs to ARM ids and bodies, and ARM responses to outputs and inputs, using the facts."""

import re
from collections.abc import Mapping
from typing import Any

from workbench.offline.azure.facts import resource
from workbench.offline.azure.inputs import azures_own, children, names
from workbench.offline.azure.provider import API_VERSION
from workbench.offline.facts import Input
from workbench.offline.provider import CloudError, RefusedError


def id_of(type_: str, inputs: Mapping[str, Any], subscription: str) -> str:
    """Return a resource's ARM id; ids used as inputs may start with a slash."""
    known = {name: str(inputs[name]).strip("/") for name in names(type_)}
    return resource(type_).id.format_map({"subscriptionId": subscription, **known})


def parts(type_: str, id_: str) -> dict[str, str]:
    """Return the inputs contained in an ARM id.

    Raises
    ------
    CloudError
        It is not an id of the type.
    """
    pattern = re.sub(r"\\{(scope|resourceUri)\\}", r"(?P<\1>.+)", re.escape(resource(type_).id))
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", pattern)
    found = re.fullmatch(pattern, id_, re.IGNORECASE)
    if not found:
        raise CloudError(f"failed to parse '{id_}' against the path '{resource(type_).id}'")
    return {name: found[name] for name in names(type_)}


# --- To ARM -----------------------------------------------------------------------------------------------------------


def body(type_: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of the request that sets all of these inputs.

    Raises
    ------
    RefusedError
        An input contains another resource.
    """
    return _formed(type_, "", inputs)


def _formed(type_: str, fact: str, given: Mapping[str, Any]) -> dict[str, Any]:
    known, formed = children(type_, fact), dict[str, Any]()
    for name, value in given.items():
        if name in known and not known[name].is_in_id:
            *around, last = known[name].place.split(".")
            target = formed
            for each in around:
                target = target.setdefault(each, {})
            target[last] = _form(type_, known[name], value)
    return formed


def _form(type_: str, known: Input, value: Any) -> Any:
    if known.kind == "resource" and not (isinstance(value, dict) and value.keys() <= {"id"}):
        raise RefusedError(
            f"the Azure emulator does not create nested resources ({known.path} of {type_}): declare them separately"
        )
    if known.kind == "keys":
        return {key: {} for key in value}
    if known.kind == "integer" and isinstance(value, float):
        return int(value)
    if known.kind == "object":
        return _formed(type_, known.path, value)
    if children(type_, known.path) and known.kind == "list":
        return [_formed(type_, known.path, each) for each in value]
    if children(type_, known.path) and known.kind == "map":
        return {key: _formed(type_, known.path, each) for key, each in value.items()}
    return value


# --- From ARM ---------------------------------------------------------------------------------------------------------


def outputs(type_: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plug-in's outputs for an ARM response."""
    converted = _from_arm(type_, "", answer)
    converted.pop("id", None)
    # What has another name in ``properties``, where the plug-in renames it, because the top level has the same one too.
    renamed = {name: value for name, value in _at_their_place(type_, answer).items() if name not in answer}
    return {**converted, **renamed, API_VERSION: resource(type_).api_version}


def _from_arm(type_: str, fact: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an ARM object with the plug-in's names, and with ``properties`` flattened, unless that is an input."""
    flat = dict(answer)
    is_whole = "properties" in azures_own(type_, fact) or "properties" in children(type_, fact)
    if not is_whole and isinstance(flat.get("properties"), dict):
        flat = {**flat.pop("properties"), **flat}
    spelled = {known.place.rpartition(".")[2]: (name, known) for name, known in children(type_, fact).items()}
    found = {}
    for word, value in flat.items():
        name, known = spelled.get(word, (word, None))
        if value is not None:
            found[name] = _value_from_arm(type_, known, value)
    return found


def _value_from_arm(type_: str, known: Input | None, value: Any) -> Any:
    if known is None or not children(type_, known.path):
        return value
    if isinstance(value, list):
        return [_from_arm(type_, known.path, each) for each in value]
    if known.kind == "map":
        return {key: _from_arm(type_, known.path, each) for key, each in value.items()}
    return _from_arm(type_, known.path, value)


def projected(type_: str, outputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs that are also inputs, without those in the id."""
    return _projected(type_, "", outputs)


def _projected(type_: str, fact: str, converted: Mapping[str, Any]) -> dict[str, Any]:
    known = children(type_, fact)
    return {
        name: _project(type_, known[name], value)
        for name, value in converted.items()
        if name in known and not known[name].is_in_id
    }


def _project(type_: str, known: Input, value: Any) -> Any:
    if known.kind == "keys":
        return sorted(value)
    if not children(type_, known.path):
        return value
    if isinstance(value, list):
        return [_projected(type_, known.path, each) for each in value]
    if known.kind == "map":
        return {key: _projected(type_, known.path, each) for key, each in value.items()}
    return _projected(type_, known.path, value)


def imported(type_: str, id_: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs for an imported resource, without empty lists and objects where Azure knows the members."""
    converted, known = {**outputs(type_, answer), **_at_their_place(type_, answer)}, children(type_, "")
    found = {
        name: value if name in known and known[name].kind == "any" else _without_empty(value)
        for name, value in projected(type_, converted).items()
        if name != "id"
    }
    return {**{name: value for name, value in found.items() if value is not None}, **parts(type_, id_)}


def _at_their_place(type_: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plain inputs whose name in ``properties`` is also used at the top level."""
    found = {}
    for name, known in children(type_, "").items():
        layer, _, word = known.place.rpartition(".")
        if layer == "properties" and word in answer and word in (answer.get("properties") or {}):
            found[name] = answer["properties"][word]
    return found


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: inner for key, each in value.items() if (inner := _without_empty(each)) is not None}
        return kept or None
    if isinstance(value, list):
        return [inner for each in value if (inner := _without_empty(each)) is not None] or None
    return value
