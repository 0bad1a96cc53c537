"""Finds fields that other managers added to a Kubernetes object of the stack.

A refresh does not report them: the provider first removes undeclared fields from the live object, including additional
list elements (``pruneLiveState`` in ``provider/pkg/provider/provider.go`` of pulumi-kubernetes). An added rule that
opens a network policy would go unnoticed. The API server's managed fields record who wrote each field
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
"""Kubernetes components that write into other managers' objects, by field manager name."""

_NOTES: Final = re.compile(r'annotations\["kubectl\.kubernetes\.io/')
"""Annotations that kubectl adds for its own use: the last applied manifest, a restart."""

_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
_MISSING: Final = object()

_Keys = tuple[str | int, ...]


def added_by_others(declared: Mapping[str, Any], known: Mapping[str, Any], live: Mapping[str, Any]) -> list[str]:
    """Return the sorted paths of fields added by others, in the engine's notation: ``spec.egress[1]``.

    Parameters
    ----------
    declared
        The object as declared by the program.
    known
        The object as last read by the engine, with the API server's defaults.
    live
        The live object.
    """
    added = {path for fields in _fields_of_others(live) for path in _undeclared((), fields, declared, known, live)}
    if "deletionTimestamp" in _map(live.get("metadata")):  # its deletion waits for finalizers
        added.add("metadata.deletionTimestamp")
    return sorted(path for path in added if not _NOTES.search(path))


def _fields_of_others(live: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return the fields of each manager that is neither us nor a Kubernetes component, without status."""
    own = {str(live.get("__fieldManager") or FIELD_MANAGER), *CONTROLLERS}
    for entry in map(_map, _list(_map(live.get("metadata")).get("managedFields"))):
        if entry.get("subresource") != "status" and str(entry.get("manager")) not in own:
            yield _map(entry.get("fieldsV1"))


def _undeclared(keys: _Keys, fields: Mapping[str, Any], declared: Any, known: Any, live: Any) -> Iterator[str]:
    """Return the paths that a manager owns and the program does not declare.

    A key of ``fields`` is ``f:`` plus a field name, ``k:`` plus the keys of a list element, or ``v:`` plus an element
    of a set: https://pkg.go.dev/sigs.k8s.io/structured-merge-diff/v4/fieldpath.
    """
    for key, below in fields.items():
        if (place := _place(key, live)) is None:
            continue
        here, (expected, before, value) = (*keys, place), (_member(key, each) for each in (declared, known, live))
        is_whole = not _map(below).keys() - {"."}
        if is_whole and expected is not _MISSING:
            yield from _beyond(here, expected, before, value)
        elif is_whole or (expected is _MISSING and isinstance(place, int)):  # an element is added as a whole
            yield _spelled(here)
        else:
            yield from _undeclared(here, _map(below), expected, before, value)


def _member(key: str, container: Any) -> Any:
    place = _place(key, container)
    return _MISSING if place is None else container[place]


def _place(key: str, container: Any) -> str | int | None:
    """Return the key or index in ``container`` for a key of managed fields; None if it does not exist."""
    kind, _, rest = key.partition(":")
    if kind == "f":
        return rest if isinstance(container, dict) and rest in container else None
    try:
        expected = json.loads(rest)
    except (ValueError, RecursionError):  # "." for the container itself, or invalid
        return None
    matches = _has_keys if kind == "k" else operator.eq
    return next((index for index, element in enumerate(_list(container)) if matches(element, expected)), None)


def _has_keys(element: Any, expected: Any) -> bool:
    # A missing key has its default.
    return isinstance(element, dict) and all(element.get(key, value) == value for key, value in _map(expected).items())


def _beyond(keys: _Keys, expected: Any, known: Any, live: Any) -> Iterator[str]:
    """Return the paths in ``live`` that are not in ``expected``, except keys that the API server filled in before."""
    if isinstance(expected, dict) and isinstance(live, dict):
        before = _map(known)
        for key, value in live.items():
            if key in expected:
                yield from _beyond((*keys, key), expected[key], before.get(key), value)
            elif key not in before:
                yield _spelled((*keys, key))
    elif isinstance(expected, list) and isinstance(live, list):
        filled = _list(known)
        for index, value in enumerate(live):
            if index < len(expected):
                yield from _beyond((*keys, index), expected[index], next(iter(filled[index : index + 1]), None), value)
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
