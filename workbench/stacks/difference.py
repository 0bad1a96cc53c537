"""What differs between the configurations of two stacks."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from infra.config import KeyPath
from infra.config.effective import effective
from workbench.stacks import Stack

_DEFAULT: Final = "default"


@dataclass(frozen=True)
class Value:
    """A value and what sets it.

    Parameters
    ----------
    value
        As plain data.
    origin
        File and line, or ``default``.
    """

    value: Any
    origin: str


@dataclass(frozen=True)
class Difference:
    """A key with different values.

    Parameters
    ----------
    path
        Its path below ``igz-clusters:stack``.
    left, right
        Its values; None where the configuration does not have the key.
    """

    path: KeyPath
    left: Value | None
    right: Value | None


def differences(left: Stack, right: Stack) -> list[Difference]:
    """Return the keys whose values differ in what applies, defaults included.

    A mapping that only one of them has is one difference; its value is what was set, without defaults.
    """
    return list(_differences(left, right))


def _differences(left: Stack, right: Stack) -> Iterator[Difference]:
    before, after = (_Entries(stack) for stack in (left, right))
    found = set[KeyPath]()
    for path in dict.fromkeys((*before.by_path, *after.by_path)):
        was, now = before.by_path.get(path), after.by_path.get(path)
        is_inside = any(path[:length] in found for length in range(len(path)))
        if is_inside or (was and now and was.value == now.value and was.has_keys == now.has_keys):
            continue
        found.add(path)
        yield Difference(path, before.value(path), after.value(path))


class _Entries:
    """The configuration of a stack by path."""

    def __init__(self, stack: Stack) -> None:
        self.by_path = {each.path: each for each in effective(stack.config)}
        self._origins = stack.origins

    def value(self, path: KeyPath) -> Value | None:
        entry = self.by_path.get(path)
        if entry is None:
            return None
        return Value(self._given(path) if entry.has_keys else entry.value, self._origin(path))

    def _given(self, path: KeyPath) -> dict[str, Any]:
        """Return what was set inside a mapping."""
        given: dict[str, Any] = {}
        for each in self.by_path.values():
            if each.path[: len(path)] == path and not each.has_keys and self._origin(each.path) != _DEFAULT:
                inside = given
                for key in each.path[len(path) : -1]:
                    inside = inside.setdefault(str(key), {})
                inside[str(each.path[-1])] = each.value
        return given

    def _origin(self, path: KeyPath) -> str:
        if any(self.by_path[path[: length + 1]].why_default is not None for length in range(len(path))):
            return _DEFAULT
        while path and path not in self._origins:  # a short form of several keys
            path = path[:-1]
        return str(self._origins.get(path, ""))
