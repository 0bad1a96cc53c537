"""Finds the entries inside the envelopes of clouds and tools."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from workbench.rehearsal.replay.problems import ReplayError
from workbench.rehearsal.replay.stream import Source

_TEXTS: Final = ("message", "@message", "log_s", "log")
"""Keys whose text is an entry: CloudWatch, its Insights, Azure's Log Analytics and its resource logs."""

_LISTS: Final = ("logEvents", "records", "items")
"""Keys of entries that were delivered together: CloudWatch subscriptions, event hubs, audit webhooks."""

_ROW: Final = {
    "AuditId": "auditID", "Level": "level", "ObjectRef": "objectRef", "RequestObject": "requestObject",
    "RequestReceivedTime": "requestReceivedTimestamp", "RequestUri": "requestURI", "ResponseObject": "responseObject",
    "ResponseStatus": "responseStatus", "Stage": "stage", "Verb": "verb",
}  # fmt: skip
"""Columns of Azure's tables AKSAudit and AKSAuditAdmin (MicrosoftDocs/azure-reference-other,
``azure-monitor-ref/tables/aksaudit.md``). Too large objects are the text ``skipped-too-big-size-object`` there."""

AUDIT: Final = "audit.k8s.io/"


def objects(
    source: Source, is_of_format: Callable[[Mapping[str, Any]], bool], problem: str, hint: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file with their lines; a ``ReplayError`` for one that is not of its format."""
    for entry in source.entries():
        for value in unwrap(entry.value):
            if not is_of_format(value):
                raise ReplayError(source.path, problem, hint, line=entry.line)
            yield entry.line, value


def unwrap(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in an entry; nothing for what is not an object, such as another component's log line."""
    if isinstance(value, list):
        fields = {each["field"]: each.get("value") for each in value if isinstance(each, Mapping) and "field" in each}
        yield from unwrap(fields or None)
        return
    if not isinstance(value, dict):
        return
    if "kind" in value and "apiVersion" in value and not str(value["kind"]).endswith("List"):
        yield value
    elif "Verb" in value and "ObjectRef" in value:
        yield _audit_of_row(value)
    elif isinstance(value.get("object"), dict) and "type" in value:
        yield from unwrap(value["object"])
    elif (inner := _inner(value)) is not None:
        yield from unwrap(inner)
    elif batch := next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None):
        for each in batch:
            yield from unwrap(each)
    else:
        yield value


def _inner(value: Mapping[str, Any]) -> Any:
    """Return the decoded text of an envelope; None if the entry is not an envelope, an empty list without JSON."""
    properties = _decoded(value.get("properties"))
    if isinstance(properties, Mapping) and "log" in properties:
        return _decoded(properties["log"]) or []
    for key in _TEXTS:
        if isinstance(value.get(key), str) and "metadata" not in value:
            return _decoded(value[key]) or []
    return None


def _audit_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    event = {name: _decoded(row[column]) for column, name in _ROW.items() if column in row}
    return {"kind": "Event", "apiVersion": f"{AUDIT}v1", **event}


def _decoded(value: Any) -> Any:
    """Return what a text of JSON holds; other values and texts as they are, and None for cut-off JSON."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith(("{", "[")):
        return value if "{" not in value else None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
