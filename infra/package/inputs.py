"""Conversion of the component's inputs, as the engine sends them, to plain values."""

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct, Value

from components.contract.engine_marks import MARK, OUTPUT_KIND, SECRET_KIND, SENTINELS, with_integers
from infra.config import ConfigurationError, KeyPath, Problem

UNKNOWN: Final = (
    "is not known in a preview, because it comes from a resource that does not exist yet; settings of a cluster must "
    "be known before anything is created: use a plain value or an output of another stack"
)
SECRET: Final = (
    "is a secret, but settings of a cluster are kept and shown in plain text; use a plain value, and pass no secret"  # noqa: S105 a message
)
NOT_PLAIN: Final = "must be a plain value; files, archives and resources are not"
NOT_FINITE: Final = "is not a finite number: the program passes NaN or infinity"


def plain_inputs(bag: Struct) -> dict[str, Any]:
    """Return the inputs as the program gets a stack file's settings: keys in order, and whole numbers as integers.

    The engine's maps have no order, but it sorts the keys of configuration, and resources depend on the order of pools.

    Raises
    ------
    ConfigurationError
        With every number that is not finite; if there is none, with every input that is unknown, secret or not plain.
    """
    if problems := list(_not_finite(sorted(bag.fields.items()), ())):
        raise ConfigurationError(problems)  # JSON has no such numbers
    given = with_integers(MessageToDict(bag))
    if problems := list(_problems(given, ())):
        raise ConfigurationError(problems)
    return {key: _plain(given[key]) for key in sorted(given)}


def _not_finite(values: Iterable[tuple[str | int, Value]], path: KeyPath) -> Iterator[Problem]:
    for key, value in values:
        if not isfinite(value.number_value):
            yield Problem((*path, key), NOT_FINITE)
        yield from _not_finite(sorted(value.struct_value.fields.items()), (*path, key))
        yield from _not_finite(enumerate(value.list_value.values), (*path, key))


def _problems(value: Any, path: KeyPath) -> Iterator[Problem]:
    if isinstance(value, dict) and MARK in value:
        if value[MARK] == SECRET_KIND or value.get("secret"):
            yield Problem(path, SECRET)
        elif value[MARK] != OUTPUT_KIND:
            yield Problem(path, NOT_PLAIN)
        elif "value" not in value:
            yield Problem(path, UNKNOWN)
        else:
            yield from _problems(value["value"], path)
    elif isinstance(value, str) and value in SENTINELS:
        yield Problem(path, UNKNOWN)
    elif isinstance(value, dict | list):
        for key, inner in sorted(value.items()) if isinstance(value, dict) else enumerate(value):
            yield from _problems(inner, (*path, key))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return _plain(value["value"]) if MARK in value else {key: _plain(value[key]) for key in sorted(value)}
    return [_plain(inner) for inner in value] if isinstance(value, list) else value
