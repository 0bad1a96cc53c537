"""Names of resources: unique for different choices, and within the clouds' limits of length."""

import hashlib
from typing import Final

AUTOMATIC_END: Final = 8
"""Length of the suffix that Pulumi adds to the logical name of a resource if the program sets no name for the cloud.

A dash and seven hexadecimal digits: pulumi/pulumi-terraform-bridge, ``pkg/tfbridge/names.go`` (``AutoName``), for which
pulumi/pulumi-aws 0c5f6583ebfb ``provider/autonaming.go`` allows 255 characters, regardless of AWS's limit.
"""

_SEPARATOR: Final = "."
_DIGITS: Final = 8


def composed(*parts: str) -> str:
    """Return a name of several parts, which no other parts result in.

    A dash would be ambiguous: ``ml`` and ``prod-x`` would result in the same name as ``ml-prod`` and ``x``.

    Parameters
    ----------
    parts
        Words without a dot, such as DNS labels.

    Raises
    ------
    ValueError
        A part contains a dot.
    """
    if dotted := [part for part in parts if _SEPARATOR in part]:
        raise ValueError(f"parts of a name must have no '{_SEPARATOR}', given {', '.join(map(repr, dotted))}")
    return _SEPARATOR.join(parts)


def automatic(name: str, limit: int) -> str:
    """Return the logical name of a resource whose name in the cloud is this and the suffix of ``AUTOMATIC_END``.

    Parameters
    ----------
    name
        The logical name, used if it fits; otherwise its beginning, a dash and digits of a hash are used.
    limit
        Maximum length of the name in the cloud.
    """
    if len(name) <= limit - AUTOMATIC_END:
        return name
    return f"{name[: _kept(limit)]}-{hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]}"


def beginning(stack: str, limit: int) -> str:
    """Return the common prefix of automatic names in a stack whose logical names begin with the stack's and a dash.

    Parameters
    ----------
    limit
        As for ``automatic``.
    """
    return f"{stack}-"[: _kept(limit)]


def _kept(limit: int) -> int:
    return limit - AUTOMATIC_END - _DIGITS - 1
