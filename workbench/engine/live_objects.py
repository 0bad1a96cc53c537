"""Live objects and the managers of their fields."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from components.contract.ownership import FIELD_MANAGER

CONTROL_PLANE: Final = frozenset({"kube-apiserver", "kube-controller-manager"})
"""Managers that write into all objects; they do not count as an object's creator."""


ObjectKey: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name of an object."""


def key_of(manifest: Mapping[str, Any]) -> ObjectKey:
    """Return what distinguishes an object from all others of its cluster."""
    metadata = manifest["metadata"]
    return str(manifest["kind"]), str(metadata.get("namespace") or ""), str(metadata["name"])


@dataclass(frozen=True)
class LiveObject:
    """An object as returned by the API server, with its managed fields."""

    content: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Kind, such as ``Node``."""
        return str(self.content["kind"])

    @property
    def name(self) -> str:
        """Name of the object."""
        return str(self.content["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Its namespace; empty if it is in none."""
        return str(self.content["metadata"].get("namespace") or "")

    @property
    def uid(self) -> str:
        """UID, which distinguishes it from an earlier object of the same name."""
        return str(self.content["metadata"].get("uid") or "")

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels."""
        return self.content["metadata"].get("labels") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """Its annotations."""
        return self.content["metadata"].get("annotations") or {}

    @property
    def is_ours(self) -> bool:
        """Whether this package alone manages it, as after a killed run.

        Controllers and kubelets report through subresources such as ``status``, which does not make an object theirs.
        """
        managers = {entry.get("manager") for entry in self._managed if not entry.get("subresource")} - CONTROL_PLANE
        return managers == {FIELD_MANAGER}

    def other_managers(self, *path: str) -> list[str]:
        """Return a field's managers other than us, such as ``("metadata", "labels", KEY)``.

        A field without a recorded manager counts as managed by an unknown other: it predates server-side apply.
        """
        names = sorted({str(entry.get("manager")) for entry in self._managed if _holds(entry.get("fieldsV1"), path)})
        return [name for name in names or ["an unknown manager"] if name != FIELD_MANAGER]

    @property
    def _managed(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.content["metadata"].get("managedFields") or ())


def _holds(fields: Any, path: tuple[str, ...]) -> bool:
    for key in path:
        if not isinstance(fields, Mapping) or f"f:{key}" not in fields:
            return False
        fields = fields[f"f:{key}"]
    return True
