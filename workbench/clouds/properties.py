"""Property bags as the engine sends them, and as Python reads them.

On the wire a bag is a ``Struct`` in which some values are marks: an unknown value is one of a few fixed strings, and
a secret is an object with a signature around the value.
"""

from enum import Enum
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime import rpc
from typing_extensions import override

UNKNOWN_MARKS: Final = frozenset(
    {
        rpc.UNKNOWN,  # a string or any other kind
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # a boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # a number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # a list
        "030794c1-ac77-496b-92df-f27374a8bd58",  # an asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # an archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # a map
    }
)
"""https://github.com/pulumi/pulumi/blob/master/sdk/go/common/resource/plugin/rpc.go."""

DEFAULTS: Final = "__defaults"
"""Where a bridged provider notes which inputs it filled in itself."""


class Unknown(Enum):
    """The type of ``UNKNOWN``."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
"""A value that nobody knows before the resource that it comes from exists."""


class Secret(str):
    """A text that may be compared and judged, and that no message shows."""

    __slots__ = ()

    @override
    def __repr__(self) -> str:
        return "[secret]"


def plain(bag: Struct) -> dict[str, Any]:
    """Return a bag without marks: ``UNKNOWN`` for what is unknown, texts in secrets as ``Secret``, no nulls."""
    values: dict[str, Any] = _plain(MessageToDict(bag))
    return values


def _plain(value: Any, text: type[str] = str) -> Any:
    if isinstance(value, str):
        return UNKNOWN if value in UNKNOWN_MARKS else text(value)
    if isinstance(value, list):
        return [_plain(element, text) for element in value]
    if isinstance(value, dict):
        if value.get(rpc._special_sig_key) == rpc._special_secret_sig:  # noqa: SLF001 no public name
            return _plain(value.get("value"), Secret)
        known = {key: inner for key, inner in value.items() if inner is not None and key != DEFAULTS}
        return {key: _plain(inner, text) for key, inner in known.items()}
    return value


def marked(values: dict[str, Any]) -> dict[str, Any]:
    """Return ``values`` with the engine's mark in place of each ``UNKNOWN``."""
    return {key: rpc.UNKNOWN if value is UNKNOWN else value for key, value in values.items()}


def defaults(bag: Struct) -> frozenset[str]:
    """Return the names of the inputs that the provider filled in itself."""
    return frozenset(MessageToDict(bag).get(DEFAULTS) or ())
