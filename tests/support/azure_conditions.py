"""Conditions of Azure's role assignments, evaluated as Microsoft documents them: for prefixes of blobs.

It is our own reading of the documentation, not Azure's verdict:
https://learn.microsoft.com/azure/role-based-access-control/conditions-format. Words that it does not know raise
``NotImplementedError``, so that no condition passes unread.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<mark>[()!])|(?P<word>AND|OR|NOT)\b|(?P<action>(?:Sub)?(?:Action|Operation)Matches)\{'(?P<named>[^']*)'\}"
    r"|@(?P<source>Resource|Request)\[(?P<attribute>[^\]]+)\]\s+(?P<operator>\w+)\s+'(?P<value>[^']*)')"
)

_OPERATORS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "StringEquals": str.__eq__,
    "StringStartsWith": str.startswith,
}
"""Both respect case; variants with ``IgnoreCase`` would not."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a request asks for."""

    action: str
    sub_operation: str = ""
    resource: Mapping[str, str] = field(default_factory=dict)
    """Attributes of what it is about."""
    request: Mapping[str, str] = field(default_factory=dict)
    """Attributes of the request itself."""


def allows(condition: str, asked: Asked) -> bool:
    """Return whether a condition lets its role assignment allow what is asked; an empty condition does."""
    if not condition:
        return True
    tokens = list(_tokens(condition))
    result = _either(tokens, asked)
    if tokens:
        raise NotImplementedError(f"condition goes on with {tokens[0][0]!r}")
    return result


def _tokens(condition: str) -> Iterator[re.Match[str]]:
    place = 0
    while condition[place:].strip():
        found = _TOKEN.match(condition, place)
        if not found:
            raise NotImplementedError(f"condition at {condition[place : place + 40]!r}")
        yield found
        place = found.end()


def _either(tokens: list[re.Match[str]], asked: Asked) -> bool:
    result = _both(tokens, asked)
    while tokens and tokens[0]["word"] == "OR":
        tokens.pop(0)
        result = _both(tokens, asked) or result
    return result


def _both(tokens: list[re.Match[str]], asked: Asked) -> bool:
    result = _one(tokens, asked)
    while tokens and tokens[0]["word"] == "AND":
        tokens.pop(0)
        result = _one(tokens, asked) and result
    return result


def _one(tokens: list[re.Match[str]], asked: Asked) -> bool:
    if not tokens:
        raise NotImplementedError("condition ends too early")
    token = tokens.pop(0)
    if token["word"] == "NOT" or token["mark"] == "!":
        return not _one(tokens, asked)
    if token["mark"] == "(":
        result = _either(tokens, asked)
        if not tokens or tokens.pop(0)["mark"] != ")":
            raise NotImplementedError("condition lacks a ')'")
        return result
    if token["action"] == "ActionMatches":
        return token["named"].lower() == asked.action.lower()
    if token["action"] == "SubOperationMatches":
        return token["named"] == asked.sub_operation
    if token["attribute"]:
        return _compared(token, asked)
    raise NotImplementedError(f"condition has {token[0]!r}")


def _compared(token: re.Match[str], asked: Asked) -> bool:
    if token["operator"] not in _OPERATORS:
        raise NotImplementedError(f"condition operator {token['operator']}")
    given = (asked.resource if token["source"] == "Resource" else asked.request).get(token["attribute"])
    return given is not None and _OPERATORS[token["operator"]](given, token["value"])
