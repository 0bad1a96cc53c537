"""Lookups of each type's inputs in the facts."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from workbench.offline.aws.facts import resource
from workbench.offline.facts import Input

TABLE: Final = "tools/facts/aws_resources"
"""The folder whose files to extend with a new type."""


def inputs_of(type_: str) -> Mapping[str, Input]:
    """Return the inputs of a type by path; ``KeyError`` if the type is unknown."""
    return resource(type_).inputs


@cache
def children(type_: str, path: str) -> Mapping[str, Input]:
    """Return the inputs inside an object by their own name, as ``Resource.inside`` does."""
    return resource(type_).inside(path)
