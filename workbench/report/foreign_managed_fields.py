"""What others wrote into a Kubernetes object that the program declares.

A refresh does not see it: the provider first drops from the live object whatever the program does not declare, further
elements of a list included (``pruneLiveState`` in ``provider/pkg/provider/provider.go`` of pulumi-kubernetes). So a
rule that opens a network policy would be no drift. The API server knows better: it keeps who wrote which field
(https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
"""

import json
import operator
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.contract.ownership import FIELD_MANAGER

CONTROLLERS: Final = frozenset(
    {
        "cloud-controller-manager",
        "cloud-node-manager",
        "cluster-autoscaler",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
        "kwok",
    }
)
"""Parts of Kubernetes that write into others' objects by their office. Each writes under its program's name."""

_NOTES: Final = re.compile(r'annotations\["kubectl\.kubernetes\.io/')
"""What kubectl notes about its own working, beside the change itself: the last applied manifest, a restart."""

_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_MISSING: Final = object()

_Keys = tuple[str | int, ...]


def added_by_others(declared: Mapping[str, Any], known: Mapping[str, Any], live: Mapping[str, Any]) -> list[str]:
    """Return the paths of what others added, sorted, spelled as the engine does it: ``spec.egress[1]``.

    Parameters
    ----------
    declared
        The object as the program wants it.
    known
        As it was when the engine saw it last, with what the API server filled in.
    live
        As it is.
    """
    added = {path for fields in _fields_of_others(live) for path in _undeclared((), fields, declared, known, live)}
    if "deletionTimestamp" in _map(live.get("metadata")):  # somebody deleted it, and its finalizers keep it
        added.add("metadata.deletionTimestamp")
    return sorted(path for path in added if not _NOTES.search(path))


def _fields_of_others(live: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return the fields of each writer that is neither us nor a part of Kubernetes; a status is no such field."""
    own = {str(live.get("__fieldManager") or FIELD_MANAGER), *CONTROLLERS}
    for entry in map(_map, _list(_map(live.get("metadata")).get("managedFields"))):
        if entry.get("subresource") != "status" and str(entry.get("manager")) not in own:
            yield _map(entry.get("fieldsV1"))


def _undeclared(keys: _Keys, fields: Mapping[str, Any], declared: Any, known: Any, live: Any) -> Iterator[str]:
    """Return the paths of what a writer owns and nobody declares.

    A key of ``fields`` says ``f:`` and a field's name, ``k:`` and the keys of a list's element, or ``v:`` and a set's
    element: https://pkg.go.dev/sigs.k8s.io/structured-merge-diff/v4/fieldpath.
    """
    for key, below in fields.items():
        if (place := _place(key, live)) is None:
            continue
        here, (wanted, before, value) = (*keys, place), (_member(key, each) for each in (declared, known, live))
        is_whole = not _map(below).keys() - {"."}
        if is_whole and wanted is not _MISSING:
            yield from _beyond(here, wanted, before, value)
        elif is_whole or (wanted is _MISSING and isinstance(place, int)):  # an element is added as a whole
            yield _spelled(here)
        else:
            yield from _undeclared(here, _map(below), wanted, before, value)


def _member(key: str, container: Any) -> Any:
    place = _place(key, container)
    return _MISSING if place is None else container[place]


def _place(key: str, container: Any) -> str | int | None:
    """Return the key or index in ``container`` that a key of managed fields means; None if there is none."""
    kind, _, rest = key.partition(":")
    if kind == "f":
        return rest if isinstance(container, dict) and rest in container else None
    try:
        wanted = json.loads(rest)
    except (ValueError, RecursionError):  # the mark of a whole map or list, whose members follow; or nothing
        return None
    matches = _has_keys if kind == "k" else operator.eq
    return next((index for index, element in enumerate(_list(container)) if matches(element, wanted)), None)


def _has_keys(element: Any, wanted: Any) -> bool:
    # A key that is not written has its default.
    return isinstance(element, dict) and all(element.get(key, value) == value for key, value in _map(wanted).items())


def _beyond(keys: _Keys, wanted: Any, known: Any, live: Any) -> Iterator[str]:
    """Return what is in ``live`` and not in ``wanted``, but for keys that the API server filled in before."""
    if isinstance(wanted, dict) and isinstance(live, dict):
        before = _map(known)
        for key, value in live.items():
            if key in wanted:
                yield from _beyond((*keys, key), wanted[key], before.get(key), value)
            elif key not in before:
                yield _spelled((*keys, key))
    elif isinstance(wanted, list) and isinstance(live, list):
        filled = _list(known)
        for index, value in enumerate(live):
            if index < len(wanted):
                yield from _beyond((*keys, index), wanted[index], next(iter(filled[index : index + 1]), None), value)
            else:
                yield _spelled((*keys, index))


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _spelled(keys: _Keys) -> str:
    path = ""
    for key in keys:
        if isinstance(key, str) and _WORD.fullmatch(key):
            path += f".{key}" if path else key
        else:
            path += f"[{json.dumps(key)}]"
    return path
