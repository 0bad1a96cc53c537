"""Lookups of each type's inputs in the facts."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from workbench.offline.azure.facts import resource
from workbench.offline.facts import Input
from workbench.offline.input_paths import inside

TABLE: Final = "tools/facts/azure.yaml"
"""The file to extend with a new type."""


def inputs_of(type_: str) -> Mapping[str, Input]:
    """Return the inputs of a type by path; ``KeyError`` if the type is unknown."""
    return resource(type_).inputs


@cache
def children(type_: str, path: str) -> Mapping[str, Input]:
    """Return the inputs inside an object by their own name, as ``Resource.inside`` does."""
    return resource(type_).inside(path)


@cache
def azures_own(type_: str, path: str) -> frozenset[str]:
    """Return the outputs inside an object that are not inputs; ``path`` as in ``children``."""
    return frozenset(inside(resource(type_).outputs, path))


@cache
def names(type_: str) -> tuple[str, ...]:
    """Return the inputs that are in a type's id, outermost first."""
    return tuple(name for name in re.findall(r"{(\w+)}", resource(type_).id) if name in inputs_of(type_))
