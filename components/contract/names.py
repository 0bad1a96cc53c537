"""Names of resources: other choices give other names, and names are as short as clouds want them."""

import hashlib
from typing import Final

AUTOMATIC_END: Final = 8
"""Length of what Pulumi adds to the logical name of a resource whose name in the cloud the program leaves open.

A dash and seven hexadecimal digits: pulumi/pulumi-terraform-bridge, ``pkg/tfbridge/names.go`` (``AutoName``), to which
pulumi/pulumi-aws 0c5f6583ebfb ``provider/autonaming.go`` gives 255 characters, whatever AWS takes.
"""

_SEPARATOR: Final = "."
_DIGITS: Final = 8


def composed(*parts: str) -> str:
    """Return a name of several parts, which no other parts give.

    A dash would not do: ``ml`` and ``prod-x`` would be the same as ``ml-prod`` and ``x``.

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
    """Return the logical name of a resource that the cloud knows by it and ``AUTOMATIC_END``.

    Parameters
    ----------
    name
        The logical name if it fits; otherwise its beginning, a dash and digits of a hash.
    limit
        Maximum length of the name in the cloud.
    """
    if len(name) <= limit - AUTOMATIC_END:
        return name
    return f"{name[: _kept(limit)]}-{hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]}"


def beginning(stack: str, limit: int) -> str:
    """Return how all automatic names of a stack begin, whose logical names begin with the stack's and a dash.

    Parameters
    ----------
    limit
        As of ``automatic``.
    """
    return f"{stack}-"[: _kept(limit)]


def _kept(limit: int) -> int:
    return limit - AUTOMATIC_END - _DIGITS - 1
