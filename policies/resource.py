"""A resource as rules see it, independent of the policy SDK's types."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias, TypeVar

from policies.values import Value

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the stack."""

    type: str
    """Type token, such as ``aws:eks/nodeGroup:NodeGroup``."""
    name: str
    """Logical name."""
    urn: str
    props: Value
    """Inputs, as they are planned; in a stack rule the outputs of resources that no resource rule has seen."""
    protect: bool = False
    ignore_changes: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """Secret texts among the properties, which no message may show."""
    parent: str = ""
    """URN of the component that created it; empty for the stack itself."""
    depends_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """URNs of the resources that each input is made from, by the input's name. In stack rules only."""


Stack: TypeAlias = Sequence[Resource]
"""All resources of a stack, sorted by URN."""

Finders: TypeAlias = Mapping[str, Callable[[Resource], Iterator[T]]]
"""Finders for things of one kind in a resource, by pattern of the resource's type token."""


def find_in(resource: Resource, finders: Finders[T]) -> Iterator[T]:
    """Return everything that the finders for the resource's type find in it."""
    for pattern, find in finders.items():
        if _is_a(resource.type, pattern):
            yield from find(resource)


@cache
def _is_a(token: str, pattern: str) -> bool:
    return re.fullmatch(pattern, token) is not None
