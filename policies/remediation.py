"""Fixes a resource's inputs in place, for rules whose fix has no side effects.

The inputs are the engine's own message, including its marks for unknown values and secrets. A remedy never reads or
copies a marked value, so no secret loses its mark.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from policies.values import NotJudgeableError


@dataclass(frozen=True, slots=True)
class Draft:
    """A map somewhere in the inputs."""

    content: dict[str, Any]
    is_mark: Callable[[object], bool]
    """Tests whether a value is a placeholder for an unknown value or a secret."""
    type: str
    """Type token of the resource."""
    path: str = ""

    def get(self, *path: str) -> Any:
        """Return the value at ``path``; None if there is none."""
        parent = self._parent(path, create=False)
        return None if parent is None else self._open(parent.get(path[-1]), ".".join(path))

    def set(self, value: Any, *path: str) -> None:
        """Set the value at ``path``, and create the maps above it."""
        self.get(*path)  # raises if the old value is marked
        parent = self._parent(path, create=True)
        if parent is not None:
            parent[path[-1]] = value

    def elements(self, *path: str) -> Iterator["Draft"]:
        """Return the maps in the list at ``path``."""
        entries = self.get(*path)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            place = f"{'.'.join(path)}[{index}]"
            yield Draft(self._map(self._open(entry, place), place), self.is_mark, self.type, place)

    def _parent(self, path: tuple[str, ...], *, create: bool) -> dict[str, Any] | None:
        here = self.content
        for depth, key in enumerate(path[:-1], 1):
            if here.get(key) is None:
                if not create:
                    return None
                here[key] = {}
            place = ".".join(path[:depth])
            here = self._map(self._open(here[key], place), place)
        return here

    def _open(self, value: Any, place: str) -> Any:
        if self.is_mark(value):
            raise NotJudgeableError(f"{self.path}{place}", "is unknown or secret, so it was not changed")
        return value

    def _map(self, value: Any, place: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise NotJudgeableError(f"{self.path}{place}", "is not a mapping")
        return value
