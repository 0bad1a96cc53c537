"""Live objects, and which manager says what in them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from components.contract.ownership import FIELD_MANAGER

CONTROL_PLANE: Final = frozenset({"kube-apiserver", "kube-controller-manager"})
"""Managers that write into everybody's objects; an object's maker is none of them."""


@dataclass(frozen=True)
class LiveObject:
    """One object as the API server shows it, with its managed fields."""

    content: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """Kubernetes spelling."""
        return str(self.content["kind"])

    @property
    def name(self) -> str:
        """Name of the object."""
        return str(self.content["metadata"]["name"])

    @property
    def uid(self) -> str:
        """What tells it from an object that had its name before."""
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
        """Whether this package alone made it: what a killed run left is told by that."""
        managers = {entry.get("manager") for entry in self._managed} - CONTROL_PLANE
        return managers == {FIELD_MANAGER}

    def others(self, *path: str) -> list[str]:
        """Return the managers beside us that say something about a field, such as ``("metadata", "labels", KEY)``.

        A field that nobody is noted for is somebody else's: it was there before anybody was noted.
        """
        noted = sorted({str(entry.get("manager")) for entry in self._managed if _holds(entry.get("fieldsV1"), path)})
        return [manager for manager in noted or ["an unknown manager"] if manager != FIELD_MANAGER]

    @property
    def _managed(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.content["metadata"].get("managedFields") or ())


def _holds(fields: Any, path: tuple[str, ...]) -> bool:
    for part in path:
        if not isinstance(fields, Mapping) or f"f:{part}" not in fields:
            return False
        fields = fields[f"f:{part}"]
    return True
