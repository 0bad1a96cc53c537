"""Offline stand-in for Pulumi's Kubernetes plug-in: plans with dated provider facts and creates nothing."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi.runtime.proto.provider_pb2 import PropertyDiff
from typing_extensions import override

from workbench.offline.kubernetes.facts import CONTENT, FACTS_DATE, replacing
from workbench.offline.provider import Changed, Checked, Kind, Problem, Provider
from workbench.toolchain.recipes import PROVIDER_VERSION

CLUSTER: Final = "clusterIdentifier"
"""Provider setting that identifies the cluster independently of the kubeconfig."""


class OfflineKubernetes(Provider):
    """Compares Kubernetes objects without a cluster. Their values are validated by the API server only."""

    def __init__(self) -> None:
        super().__init__(
            "kubernetes",
            PROVIDER_VERSION,
            f"Offline stand-in for Pulumi's Kubernetes provider (facts of {FACTS_DATE}). It creates nothing.",
        )
        self._settings: frozenset[str] = frozenset()

    @override
    def configure(self, config: dict[str, Any]) -> None:
        # Provider configuration arrives as text.
        self._settings = frozenset(name for name, _ in CONTENT.values() if str(config.get(name)).lower() == "true")

    @override
    def moved(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
        # Adding or removing it does not count as another cluster, so that programs can start to set it.
        # Source: pulumi/pulumi-kubernetes, provider/pkg/provider/provider.go, ``DiffConfig``.
        return [CLUSTER] if CLUSTER in old and CLUSTER in new and old[CLUSTER] != new[CLUSTER] else []

    @override
    def check(self, type_: str, name: str, inputs: dict[str, Any], *, seed: bytes, kept: dict[str, Any]) -> Checked:
        metadata = inputs.get("metadata")
        if not isinstance(metadata, dict) or not metadata.get("name"):
            return Checked(
                (Problem("metadata.name", "the offline provider does not generate names; set metadata.name"),)
            )
        return Checked()

    @override
    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        before, after = _in_a_namespace(old), _in_a_namespace(new)
        patterns = [_parts(pattern) for pattern in replacing(type_, new, self._settings)]
        kinds = {
            path: _FORCED[kind] if any(_forces(pattern, _parts(path), value) for pattern in patterns) else kind
            for path, kind, value in _changes("", before, after)
        }
        same = all(before["metadata"].get(key) == after["metadata"].get(key) for key in ("name", "namespace"))
        return Changed(kinds, delete_first=same)


def _in_a_namespace(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return an object's inputs with its default namespace; harmless for cluster-scoped objects."""
    return {**inputs, "metadata": {"namespace": "default", **(inputs.get("metadata") or {})}}


def _changes(path: str, old: Any, new: Any) -> Iterator[tuple[str, Kind, Any]]:
    """Return path, kind and new value of each change, to the depth that both sides share."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _change(f"{path}.{key}" if path else key, key in old, key in new, old.get(key), new.get(key))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            before, after = old[index : index + 1], new[index : index + 1]
            yield from _change(f"{path}[{index}]", bool(before), bool(after), *(before or [None]), *(after or [None]))
    elif old != new:
        yield path, PropertyDiff.UPDATE, new


def _change(path: str, was: bool, is_: bool, old: Any, new: Any) -> Iterator[tuple[str, Kind, Any]]:  # noqa: FBT001 two sides
    if was and is_:
        yield from _changes(path, old, new)
    else:
        yield path, PropertyDiff.DELETE if was else PropertyDiff.ADD, new


def _parts(path: str) -> list[str]:
    return re.findall(r"\[[^]]*\]|[^.\[]+", path)


def _forces(pattern: list[str], path: list[str], value: Any) -> bool:
    """Return whether a change at ``path`` touches what ``pattern`` names: there, below it, or in the new value."""
    if any(expected not in (actual, "[*]") for expected, actual in zip(pattern, path, strict=False)):
        return False
    return _holds(value, pattern[len(path) :])


def _holds(value: Any, rest: list[str]) -> bool:
    if not rest:
        return True
    if isinstance(value, list):
        return any(_holds(element, rest[1:]) for element in value)
    return isinstance(value, dict) and rest[0] in value and _holds(value[rest[0]], rest[1:])


_FORCED: Final[dict[Kind, Kind]] = {
    PropertyDiff.ADD: PropertyDiff.ADD_REPLACE,
    PropertyDiff.DELETE: PropertyDiff.DELETE_REPLACE,
    PropertyDiff.UPDATE: PropertyDiff.UPDATE_REPLACE,
}


PROVIDER: Final = OfflineKubernetes
