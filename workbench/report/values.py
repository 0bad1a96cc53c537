"""Values of resources as short texts, without secrets.

The engine marks declared secrets. Values that are often secret are recognised by their path or form and hidden too:
contents of Secrets and ConfigMaps, environment variables, tokens, keys, start-up scripts.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from components.contract.engine_marks import MARK, SECRET_KIND, SENTINELS
from infra.config.problems import printable

SECRET: Final = "[secret]"  # noqa: S105 the word that stands in its place
UNKNOWN: Final = "[unknown]"
NOT_SHOWN: Final = "[not shown]"

LENGTH: Final = 80
"""Maximum number of characters shown of a value."""

NAME_LENGTH: Final = 400
"""Maximum number of characters shown of a URN, name or path."""

MISSING: Final = object()
"""Sentinel for a missing value."""

Path = tuple[str | int, ...]

_PART: Final = re.compile(r'\.?([^.\[\]"]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]')

_PRIVATE_KEYS: Final = re.compile(
    r"passw|secret(?!s?keyarn|name|ref)|token(?!s$)|credential|private_?key|api_?key|access_?key|passphrase|"
    r"kube_?config|user_?data|client_?key|connection_?string|^auth$|^env$|^environment(variables)?$|^variables$",
    re.IGNORECASE,
)
_PUBLIC_KEYS: Final = frozenset({"httpTokens", "automountServiceAccountToken"})
"""Settings whose names only look like secrets."""

_PRIVATE_BY_TYPE: Final = {
    "kubernetes:core/v1:(Secret|ConfigMap)(Patch)?": {"data", "stringData", "binaryData"},
    "aws:ssm/parameter:Parameter": {"value", "insecureValue"},
    "aws:secretsmanager/.*": {"secretString", "secretBinary"},
}
_LOOKS_SECRET: Final = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY|\b(AKIA|ASIA)[0-9A-Z]{16}\b|\beyJ[\w-]{8,}\.[\w-]{8,}\.|k8s-aws-v1\.|"
    r"\b(token|password|client-key-data)['\"]?\s*[:=]\s*['\"]?[^\s'\"]|\b(gh[pousr]|glpat|xox[abp])[-_]\w{10,}|"
    r"://[^/\s:@]+:[^/\s@]+@",
    re.IGNORECASE,
)


def parts(path: str) -> Path:
    """Return the keys and indexes of a path in the engine's notation, ``spec.rules[0]["a.b"]``."""
    elements = _PART.findall(path)
    return tuple(int(index) if index and len(index) < LENGTH else key or quoted for key, index, quoted in elements)


def at(value: Any, path: Path) -> Any:
    """Return the value at ``path``, or ``MISSING``. A secret or unknown value is returned for all paths inside it."""
    for part in path:
        if is_marked(value) or (isinstance(value, str) and value in SENTINELS):
            return value
        if isinstance(value, dict) and str(part) in value:
            value = value[str(part)]
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return MISSING
    return value


def is_marked(value: Any) -> bool:
    """Return whether the engine represents a secret or another special value here."""
    return isinstance(value, dict) and MARK in value


def marked_keys(value: Any) -> Iterator[str]:
    """Return the keys whose values the engine marked as secret.

    Includes ``tagsAll`` for ``tags``, since the AWS provider copies values there without the mark.
    """
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        if isinstance(key, str) and is_marked(item):
            yield from (key, f"{key}All")
        else:
            yield from marked_keys(item)


@dataclass(frozen=True)
class Place:
    """The location of a value.

    Parameters
    ----------
    token
        Type of the resource.
    path
        Path inside the resource.
    secret
        Keys of secret values in the resource.
    """

    token: str
    path: Path
    secret: frozenset[str] = frozenset()

    def below(self, part: str | int) -> "Place":
        """Return the place of an element of this value."""
        return replace(self, path=(*self.path, part))


def both_shown(place: Place, before: Any, after: Any) -> tuple[str | None, str | None]:
    """Return the short texts of a property before and after; long ones start where they differ.

    Parameters
    ----------
    place
        Location of the property.
    before, after
        The values, or ``MISSING``.
    """
    old, new = (None if value is MISSING else _text(place, value) for value in (before, after))
    if old is None or new is None:
        return _cut(old, 0), _cut(new, 0)
    same = next((index for index, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    is_long = max(len(old), len(new)) > LENGTH
    start = max(0, same - LENGTH // 4) if is_long else 0
    return _cut(old, start), _cut(new, start)


def safe(text: str, length: int = NAME_LENGTH) -> str:
    """Return a text as one printable line of bounded length; ``[secret]`` if it looks like a secret."""
    return SECRET if _LOOKS_SECRET.search(text) else printable(text, length)


def _cut(text: str | None, start: int) -> str | None:
    if text is None:
        return None
    return ("..." if start else "") + printable(text[start:], LENGTH)


def _text(place: Place, value: Any) -> str:
    shown = _shown(place, value)
    text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, separators=(", ", ": "))
    return SECRET if _LOOKS_SECRET.search(text) else text


def _shown(place: Place, value: Any) -> Any:
    """Return a value with hidden elements replaced by placeholders."""
    if mark := _mark(place, value):
        return mark
    if isinstance(value, dict):
        return {key: _shown(place.below(key), item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(place.below(index), item) for index, item in enumerate(value)]
    return value


def _mark(place: Place, value: Any) -> str:
    if is_marked(value):
        return SECRET if value[MARK] == SECRET_KIND else NOT_SHOWN
    if isinstance(value, str) and value in SENTINELS:
        return UNKNOWN
    if place.secret.intersection(place.path):
        return SECRET
    return NOT_SHOWN if _is_private(place) and not isinstance(value, bool | None) else ""


def _is_private(place: Place) -> bool:
    path = place.path
    if any(isinstance(part, str) and part not in _PUBLIC_KEYS and _PRIVATE_KEYS.search(part) for part in path):
        return path[-1] != "name"  # of an environment variable
    keys = (keys for pattern, keys in _PRIVATE_BY_TYPE.items() if re.fullmatch(pattern, place.token))
    return bool(path) and any(path[0] in group for group in keys)
