"""Patches: resources that set some fields of an existing Kubernetes object, such as ``DeploymentPatch``.

Rules check a patch like the object. A field that it leaves out is unknown, not absent, so a violation counts only if

- a value in the patch causes it: without that value, or with another one, there is no violation; and
- no field that is left out could prevent it: whatever value is assumed there, the violation remains.

Whether a rule applies, such as one for user work, depends on the patch alone: for a core service, repeat its label.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any, Final

from policies.resource import Resource
from policies.values import ASSUMED, Assumed, Filling, Value

_PATCH: Final = re.compile(r"(kubernetes:[^:]+:\w+)Patch")
"""Kinds of patches: https://www.pulumi.com/registry/packages/kubernetes/how-to-guides/managing-resources-with-server-side-apply/."""

_FIXED: Final = re.compile(r"(metadata\.(name|namespace)|.*[cC]ontainers\[\d+\](\.name)?)")
"""Values that only identify what is patched."""


_ELEMENT: Final = re.compile(r".*(?<![cC]ontainers)\[\d+\]")
"""Values in elements of lists, which a patch sets completely; only lists of containers are merged by name."""


def kind_of(token: str) -> str:
    """Return the type of the objects that a type of patches changes; empty for any other type."""
    patch = _PATCH.fullmatch(token)
    return patch[1] if patch else ""


def as_object(patch: Resource) -> Resource:
    """Return the object, with the fields that the patch sets."""
    return replace(patch, type=kind_of(patch.type))


class LeftOut:
    """The places that rules read in a patch and that the patch leaves out."""

    def __init__(self, patch: Resource) -> None:
        self._places: dict[str, None] = {}
        self._given = dict(_values(patch.props.raw, ""))

    def note(self, place: str) -> None:
        """Note a place that a rule reads, unless it is part of a value that the patch sets."""
        is_given = any(place.startswith((f"{given}.", f"{given}[")) for given in self._given)
        if not is_given and not _FIXED.fullmatch(place) and not _ELEMENT.match(place):
            self._places[place] = None

    def fillings(self) -> Iterator[Filling]:
        """Return functions that assume a value for one of the places: any, or one that the patch sets elsewhere."""
        values = (*ASSUMED, *(Assumed(str(value), flag=True, number=value) for value in set(self._given.values())))
        for place, value in product(self._places, values):
            yield {place: value}.get


def _values(value: Any, path: str) -> Iterator[tuple[str, str | float]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _values(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, f"{path}[{index}]")
    elif isinstance(value, str | int | float):
        yield path, value


def with_less(patch: Resource) -> Iterator[Resource]:
    """Return copies of the patch, each without one of the values that it sets, or with any value in its place."""
    for less in _with_less(patch.props.raw, ""):
        yield replace(patch, props=Value(less))


def _with_less(value: Any, path: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            place = f"{path}.{key}" if path else key
            yield from ({**value, key: less} for less in _with_less(item, place))
            if not isinstance(item, dict | list) and not _FIXED.fullmatch(place):
                yield {name: other for name, other in value.items() if name != key}
                yield {**value, key: ASSUMED[0]}
    elif isinstance(value, list):
        for index, item in enumerate(value):
            place, before, after = f"{path}[{index}]", value[:index], value[index + 1 :]
            yield from ([*before, less, *after] for less in _with_less(item, place))
            if not _FIXED.fullmatch(place):
                yield [*before, *after]
