"""Patches: resources that give some fields of an existing Kubernetes object, such as ``DeploymentPatch``.

Rules check them as the object. What a patch leaves out is unknown, not absent, so a violation counts only if one of the
given values causes it: without that value it is gone.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from policies.resource import Resource
from policies.values import Value

_PATCH: Final = re.compile(r"(kubernetes:[^:]+:\w+)Patch")
"""Kinds of patches: https://www.pulumi.com/registry/packages/kubernetes/how-to-guides/managing-resources-with-server-side-apply/."""

_FIXED: Final = re.compile(r"(metadata\.(name|namespace)|.*[cC]ontainers\[\d+\](\.name)?)")
"""Values that only say what is patched."""


def kind_of(token: str) -> str:
    """Return the type of the objects that a type of patches changes; empty for any other type."""
    patch = _PATCH.fullmatch(token)
    return patch[1] if patch else ""


def as_object(patch: Resource) -> Resource:
    """Return the object, with the fields that the patch gives."""
    return replace(patch, type=kind_of(patch.type))


def with_less(patch: Resource) -> Iterator[Resource]:
    """Return copies of the patch, each without one of the values that it gives."""
    for less in _with_less(patch.props.raw, ""):
        yield replace(patch, props=Value(less))


def _with_less(value: Any, path: str) -> Iterator[Any]:
    if isinstance(value, dict):
        for key, item in value.items():
            place = f"{path}.{key}" if path else key
            yield from ({**value, key: less} for less in _with_less(item, place))
            if not isinstance(item, dict | list) and not _FIXED.fullmatch(place):
                yield {name: other for name, other in value.items() if name != key}
    elif isinstance(value, list):
        for index, item in enumerate(value):
            place, before, after = f"{path}[{index}]", value[:index], value[index + 1 :]
            yield from ([*before, less, *after] for less in _with_less(item, place))
            if not _FIXED.fullmatch(place):
                yield [*before, *after]
