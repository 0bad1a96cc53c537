"""Compares the fields that a program declares with a live object; what it does not declare is ignored."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from components.contract.engine_marks import MARK
from components.contract.quantities import parse_quantity

_NOTES: Final = ("pulumi.com/", "__")
"""Prefixes of keys that the engine adds for itself."""

_TEXTS: Final = frozenset({"metadata", "data", "matchLabels", "nodeSelector"})
"""Fields below which a value is text, even if it looks like a quantity."""

_SHOWN: Final = 80
"""Characters of a value in a message."""


class Difference(NamedTuple):
    """A declared field whose live value differs."""

    path: str
    live: Any
    declared: Any


def differing(declared: Any, live: Any, path: str = "", *, is_text: bool = False) -> Iterator[Difference]:
    """Yield the declared fields that differ in a live object.

    Maps may have further keys and lists of another length further elements: other owners add them, and
    `igz-clusters drift` reports them. Quantities are compared by value, and what the API server leaves out counts as
    false, zero or empty.

    Parameters
    ----------
    declared, live
        Manifests, or the values of one field.
    path
        Path of the field. Default: the whole object.
    is_text
        Whether values are compared as text, as below ``metadata``. Default: quantities are not.
    """
    if isinstance(declared, Mapping):
        if MARK in declared:
            return
        current = live if isinstance(live, Mapping) else {}
        for key, value in declared.items():
            if not str(key).startswith(_NOTES):
                yield from differing(value, current.get(key), spelled(path, key), is_text=is_text or key in _TEXTS)
    elif isinstance(declared, list | tuple):
        yield from _of_list(declared, live if isinstance(live, list | tuple) else (), path, is_text=is_text)
    elif declared is not None and (declared or live) and not _is_equal(declared, live, is_text=is_text):
        yield Difference(path, live, declared)


def spelled(path: str, key: object) -> str:
    """Return the path of a field below another, in the engine's notation: ``metadata.labels["a.b/c"]``."""
    text = str(key)
    if not text.replace("_", "").replace("$", "").isalnum():
        return f'{path}["{text}"]'
    return f"{path}.{text}" if path else text


def shown(value: Any) -> str:
    """Return a value for a message, cut if it is long."""
    if value is None:
        return "nothing"
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    text = whole if isinstance(whole, str) else json.dumps(whole, sort_keys=True)
    return f"{text[:_SHOWN]}…" if len(text) > _SHOWN else text or '""'


def _of_list(declared: Sequence[Any], live: Sequence[Any], path: str, *, is_text: bool) -> Iterator[Difference]:
    for index, value in enumerate(declared):
        if any(not list(differing(value, each, is_text=is_text)) for each in live):
            continue
        place = f"{path}[{index}]"
        counterpart = _counterpart(value, index, declared, live)
        if counterpart is None:
            yield Difference(place, None, value)
        else:
            yield from differing(value, counterpart, place, is_text=is_text)


def _counterpart(value: Any, index: int, declared: Sequence[Any], live: Sequence[Any]) -> Any:
    name = value.get("name") if isinstance(value, Mapping) else None
    if name is not None:
        return next((each for each in live if isinstance(each, Mapping) and each.get("name") == name), None)
    return live[index] if len(live) == len(declared) else None


def _is_equal(declared: Any, live: Any, *, is_text: bool) -> bool:
    if declared == live and isinstance(declared, bool) == isinstance(live, bool):
        return True
    both = (declared, live)
    if is_text or any(isinstance(each, bool) or not isinstance(each, str | int | float) for each in both):
        return False
    try:
        first, second = (parse_quantity(str(each)) for each in both)
    except ValueError:
        return False
    return first == second
