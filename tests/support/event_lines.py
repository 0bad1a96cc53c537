"""Edits recorded event streams, line by line."""

import json
from collections.abc import Iterable
from typing import Any

from support.streams import stream

Event = dict[str, Any]


def events(name: str) -> list[Event]:
    """Return the events of a recorded stream."""
    return [json.loads(line) for line in stream(name).splitlines()]


def kind(event: Event) -> str:
    return next(key for key in event if key not in ("sequence", "timestamp"))


def lines(found: Iterable[Event]) -> bytes:
    """Return events as a stream, renumbered as the engine numbers them."""
    numbered = ({**event, "sequence": number} for number, event in enumerate(found))
    return b"".join(json.dumps(event).encode() + b"\n" for event in numbered)


def without(name: str, *kinds: str) -> bytes:
    """Return a recorded stream without the events of some kinds."""
    return lines(event for event in events(name) if kind(event) not in kinds)


def resource(found: Iterable[Event], name: str) -> Iterable[dict[str, Any]]:
    """Return what the steps of a resource say."""
    for event in found:
        step = event.get(kind(event), {}).get("metadata", {})
        if step.get("urn", "").endswith(f"::{name}"):
            yield step
