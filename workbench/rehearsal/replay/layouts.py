"""Recognises how a file lays out its JSON entries."""

import json
from enum import Enum, auto
from typing import Final

WRAPPERS: Final = frozenset({"items", "events", "results", "records", "runs", "value"})
"""Keys of the array in objects that hold nothing else: Kubernetes lists, ``aws logs filter-log-events``, ``aws logs
get-query-results``, Azure's event hubs, the runs of MLRun's API."""

_DECODER: Final = json.JSONDecoder()


class Layout(Enum):
    """How entries follow each other."""

    LINES = auto()
    """One on each line."""

    DOCUMENTS = auto()
    """One after the other, over several lines, as ``kubectl get -w -o json`` writes them."""

    ARRAY = auto()
    """In one array, bare or in an object such as ``{"items": [...]}``."""


def layout_of(head: str) -> tuple[Layout, int]:
    """Return the layout of a file and, for an array, where its entries start."""
    start = len(head) - len(head.lstrip())
    if head[start] == "[":
        is_line = "\n" in head and _is_json(head[start:].split("\n", 1)[0]) and head[start:].split("\n", 1)[1].strip()
        return (Layout.LINES, 0) if is_line else (Layout.ARRAY, start + 1)
    array = _array(head, start) if head[start] == "{" else None
    if array is not None:
        return Layout.ARRAY, array
    first = head[start:].split("\n", 1)[0]
    is_start = len(first) > 1 and not _is_json(first) and first.startswith("{") and "\n" not in head[start:]
    return (Layout.LINES if _is_json(first) or is_start or not first.startswith("{") else Layout.DOCUMENTS), 0


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _array(head: str, start: int) -> int | None:
    """Return where the entries of ``{..., "items": [`` start; None if the text starts differently."""
    at = start + 1
    try:
        while True:
            key, at = _DECODER.raw_decode(head, _spaces(head, at))
            at = _spaces(head, at)
            if not isinstance(key, str) or head[at] != ":":
                return None
            at = _spaces(head, at + 1)
            if key in WRAPPERS and head[at] == "[":
                return at + 1
            _, at = _DECODER.raw_decode(head, at)
            at = _spaces(head, at)
            if head[at] != ",":
                return None
            at += 1
    except (ValueError, IndexError):
        return None


def _spaces(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
