"""Refuses bodies that Microsoft's models of the API do not allow, and drops what only Azure says.

The models are those of ``azure-mgmt-containerservice`` and ``azure-mgmt-network``: names, kinds and enumerations. They
describe a later version of the API than azure-native speaks, which has all that the earlier one has.
"""

import importlib
import typing
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, Final, Union, get_args, get_origin

READ_ONLY: Final = ["read"]
"""Visibility of members that Azure returns and clients cannot set."""


def problems(body: Mapping[str, Any], package: str, model: str) -> list[str]:
    """Return everything that is wrong with a body.

    Parameters
    ----------
    package
        Such as ``azure.mgmt.network``.
    model
        Such as ``Subnet``.
    """
    return list(_object(body, _model(package, model), ""))


def settable(body: Mapping[str, Any], package: str, model: str) -> dict[str, Any]:
    """Return a body, which has no problems, without members that only Azure sets."""
    kept: dict[str, Any] = _settable(body, _model(package, model))
    return kept


@cache
def _model(package: str, model: str) -> Any:
    # The packages take seconds to load; who makes no network needs none.
    return getattr(importlib.import_module(f"{package}.models"), model)


@cache
def _members(model: Any) -> Mapping[str, tuple[Any, bool]]:
    """Return kind of each member, and whether only Azure sets it, by the name on the wire."""
    model({})  # fields get their names with the first object
    package = importlib.import_module(model.__module__.rpartition(".")[0])
    hints = typing.get_type_hints(model, localns={"_models": package})
    fields = model._attr_to_rest_field
    return {field._rest_name: (hints[name], field._visibility == READ_ONLY) for name, field in fields.items()}


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and hasattr(kind, "_is_model")


def _object(value: Mapping[str, Any], model: Any, path: str) -> Iterator[str]:
    known = _members(model)
    for name, inner in value.items():
        where = f"{path}.{name}" if path else name
        if name not in known:
            yield f"{where}: {model.__name__} has no such member"
        elif inner is not None and not known[name][1]:
            yield from _value(inner, known[name][0], where)


def _value(value: Any, kind: Any, path: str) -> Iterator[str]:
    kinds = [each for each in _alternatives(kind) if each is not NoneType]
    enumerations = [each for each in kinds if isinstance(each, type) and issubclass(each, Enum)]
    if enumerations:
        allowed = [str(member.value) for member in enumerations[0]]
        if value not in allowed:
            yield f"{path} must be one of {', '.join(allowed)}, given {value!r}"
        return
    (only,) = kinds
    if get_origin(only) is list:
        yield from _list(value, get_args(only)[0], path)
    elif get_origin(only) is dict:
        yield from _map(value, get_args(only)[1], path)
    elif _is_model(only):
        if isinstance(value, dict):
            yield from _object(value, only, path)
        else:
            yield f"{path} must be an object, given {value!r}"
    elif not _is_scalar(value, only):
        yield f"{path} must be {_WORDS.get(only, only)}, given {value!r}"


def _list(value: Any, kind: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path} must be a list, given {value!r}"
        return
    for index, element in enumerate(value):
        yield from _value(element, kind, f"{path}[{index}]")


def _map(value: Any, kind: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path} must be a map, given {value!r}"
        return
    for key, element in value.items():
        yield from _value(element, kind, f"{path}[{key!r}]")


def _is_scalar(value: Any, kind: Any) -> bool:
    if kind is Any:
        return True
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if kind in (bytes, date, datetime, str):
        return isinstance(value, str)
    return isinstance(value, kind)


_WORDS: Final[Mapping[Any, str]] = {
    bool: "true or false",
    bytes: "base64 as text",
    date: "a date as text",
    datetime: "a time as text",
    float: "a number",
    int: "a whole number",
    str: "text",
}


def _alternatives(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) is Union else (kind,)


def _settable(value: Any, kind: Any) -> Any:
    for only in _alternatives(kind):
        if _is_model(only) and isinstance(value, dict):
            known = _members(only)
            return {name: _settable(inner, known[name][0]) for name, inner in value.items() if not known[name][1]}
        if get_origin(only) is list and isinstance(value, list):
            return [_settable(element, get_args(only)[0]) for element in value]
        if get_origin(only) is dict and isinstance(value, dict):
            return {key: _settable(element, get_args(only)[1]) for key, element in value.items()}
    return value
