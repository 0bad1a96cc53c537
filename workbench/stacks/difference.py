"""What differs between the configurations of two stacks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra.config import KeyPath
from infra.config.effective import Effective, effective
from workbench.stacks import Stack


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
    """Return the keys whose values differ in what applies, defaults included, in the order of the first stack."""
    return list(_differences(left, right))


def _differences(left: Stack, right: Stack) -> Iterator[Difference]:
    before, after = ({each.path: each for each in effective(stack.config)} for stack in (left, right))
    for path in dict.fromkeys((*before, *after)):
        was, now = before.get(path), after.get(path)
        # A mapping is compared by its keys.
        if any(each and each.has_keys for each in (was, now)) or (was and now and was.value == now.value):
            continue
        yield Difference(path, _value(left, before, path), _value(right, after, path))


def _value(stack: Stack, entries: Mapping[KeyPath, Effective], path: KeyPath) -> Value | None:
    return Value(entries[path].value, _origin(stack, entries, path)) if path in entries else None


def _origin(stack: Stack, entries: Mapping[KeyPath, Effective], path: KeyPath) -> str:
    if any(entries[path[: length + 1]].why_default is not None for length in range(len(path))):
        return "default"
    while path and path not in stack.origins:  # a short form of several keys
        path = path[:-1]
    return str(stack.origins.get(path, ""))
