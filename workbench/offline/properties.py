"""Property bags as the engine sends them, and as Python reads them.

On the wire a bag is a ``Struct`` in which some values are marks: an unknown value is one of a few fixed strings, and
a secret is an object with a signature around the value.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from enum import Enum
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc
from typing_extensions import override

from components.contract.engine_marks import SENTINELS

DEFAULTS: Final = "__defaults"
"""Property in which a bridged provider records the inputs that it filled in itself."""


class Unknown(Enum):
    """The type of ``UNKNOWN``."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
"""A value that is unknown until its source resource exists."""


class Secret(str):
    """A text that may be compared and evaluated, but never shown in a message."""

    __slots__ = ()

    @override
    def __repr__(self) -> str:
        return "[secret]"


def plain(bag: Struct) -> dict[str, Any]:
    """Return plain values of a bag: ``UNKNOWN`` for unknown values, secret texts as ``Secret``, no nulls."""
    values: dict[str, Any] = _plain(MessageToDict(bag))
    return values


def _plain(value: Any, text: type[str] = str) -> Any:
    if isinstance(value, str):
        return UNKNOWN if value in SENTINELS else text(value)
    if isinstance(value, list):
        return [_plain(element, text) for element in value]
    if isinstance(value, dict):
        if value.get(rpc._special_sig_key) == rpc._special_secret_sig:  # noqa: SLF001 no public name
            return _plain(value.get("value"), Secret)
        known = {key: inner for key, inner in value.items() if inner is not None and key != DEFAULTS}
        return {key: _plain(inner, text) for key, inner in known.items()}
    return value


def marked(value: Any) -> Any:
    """Return a value as the engine reads it: its mark for each ``UNKNOWN``, and around each ``Secret``."""
    if value is UNKNOWN:
        return rpc.UNKNOWN
    if isinstance(value, Secret):
        return _in_secret(str(value))
    if isinstance(value, Mapping):
        return {key: marked(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [marked(inner) for inner in value]
    return value


def secret(value: Any) -> Any:
    """Return a value with each text in it as ``Secret``."""
    return _texts(value, Secret)


def renewed(bag: Struct, values: Mapping[str, Any], *others: Struct) -> Struct:
    """Return ``bag`` with its values replaced by ``values``, and none of its secrets in plain text.

    A value that is still the same keeps its marks, so that nothing looks changed.

    Parameters
    ----------
    bag
        What was given or is in the state.
    values
        All current values; missing ones are removed.
    others
        More bags whose secrets stay secret.
    """
    was, hidden = plain(bag), {text for each in (bag, *others) for text in _secrets(MessageToDict(each))}
    result = Struct()
    for key in bag.fields.keys() - was.keys():
        result.fields[key].CopyFrom(bag.fields[key])  # nulls and provider notes
    for key, value in values.items():
        if key in was and was[key] == value:
            result.fields[key].CopyFrom(bag.fields[key])
        elif any(_holds_secret(each, key) for each in (bag, *others)):
            result.update({key: _in_secret(marked(_texts(value, str)))})
        else:
            result.update({key: marked(_texts(value, lambda text: _hide(text, hidden)))})
    return result


def masked(text: str, *bags: Struct) -> str:
    """Return a text for display, without the secrets of any bag."""
    found = {each for bag in bags for each in _secrets(MessageToDict(bag))}
    for each in sorted(found, key=len, reverse=True):
        text = text.replace(each, "[secret]")
    return text


def _hide(text: str, hidden: Collection[str]) -> str:
    # Values derived from a secret, such as an ARN from a name, reveal it too.
    return Secret(text) if isinstance(text, Secret) or any(each in text for each in hidden) else text


def _texts(value: Any, change: Callable[[str], Any]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {key: _texts(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(inner, change) for inner in value]
    return value


def _holds_secret(bag: Struct, key: str) -> bool:
    return key in bag.fields and rpc._special_secret_sig in str(bag.fields[key])  # noqa: SLF001 no public name


def _secrets(value: Any, *, inside: bool = False) -> Iterator[str]:
    if isinstance(value, str):
        if inside and value:
            yield value
    elif isinstance(value, Mapping):
        marks = value.get(rpc._special_sig_key) == rpc._special_secret_sig  # noqa: SLF001 no public name
        for inner in [value.get("value")] if marks else value.values():
            yield from _secrets(inner, inside=inside or marks)
    elif isinstance(value, list):
        for inner in value:
            yield from _secrets(inner, inside=inside)


def _in_secret(value: Any) -> dict[str, Any]:
    return {rpc._special_sig_key: rpc._special_secret_sig, "value": value}  # noqa: SLF001 no public name


def defaults(bag: Struct) -> frozenset[str]:
    """Return the names of the inputs that the provider filled in itself."""
    return frozenset(MessageToDict(bag).get(DEFAULTS) or ())
