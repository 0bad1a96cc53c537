"""Special values in the engine's properties: marks of unknown values, secrets and outputs; also its numbers.

https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/resource/plugin/rpc.go and
https://github.com/pulumi/pulumi/blob/v3.259.0/sdk/go/common/resource/sig/sig.go. The SDK defines them too, under
private names, and is slow to load.
"""

from typing import Any, Final

SENTINELS: Final = frozenset(
    {
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",  # a string or any other kind
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # a boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # a number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # a list
        "030794c1-ac77-496b-92df-f27374a8bd58",  # an asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # an archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # a map
    }
)
"""Placeholders for values that are unknown in a preview."""

MARK: Final = "4dabf18193072939515e22adb298388d"
"""Key of a mapping that represents a special value; its value is the kind."""

SECRET_KIND: Final = "1b47061264138c4ac30d75fd1eb44270"  # noqa: S105 the kind, not a secret
"""Kind of a secret: the key ``value`` holds it in plain text."""

OUTPUT_KIND: Final = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
"""Kind of an output: ``value`` if it is known, ``secret`` if it is one."""


def with_integers(value: Any) -> Any:
    """Return properties with integers in place of whole floats, because the engine has one type of number."""
    if isinstance(value, dict):
        return {key: with_integers(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_integers(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
