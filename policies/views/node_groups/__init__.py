"""One view of node groups for all kinds of cluster, so that a rule about them is written once.

A new cloud adds a module with its ``CloudTypes`` and an entry in ``CLOUDS``.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias

from components.contract.pools import PoolRole
from policies.resource import Finders, Resource, Stack, find_in
from policies.rule import EachOf
from policies.values import some
from policies.views.node_groups import aks, eks
from policies.views.node_groups.cloud_types import CloudTypes
from policies.views.node_groups.existing import EXISTING_POOL, existing_pool
from policies.views.node_groups.facts import NodeGroupFacts
from policies.views.node_groups.local import NODE, node_templates, simulated_node
from policies.views.type_tokens import CONFIG_MAP

__all__ = [
    "CLOUDS",
    "DATA_GROUPS",
    "ELASTIC_GROUPS",
    "INITIAL_GROUPS",
    "NODE_GROUPS",
    "Groups",
    "NodeGroupFacts",
    "holders",
    "holds_user_work",
    "makes_groups",
    "node_groups",
    "of_role",
    "some_group",
    "takes_plain_jobs",
    "user_groups",
]

Groups: TypeAlias = Callable[[], list[NodeGroupFacts]]
"""Node groups of a stack, computed once, for the first pod that needs them."""

CLOUDS: Final[tuple[CloudTypes, ...]] = (eks.TYPES, aks.TYPES)
"""The clouds whose resources are checked."""

_FINDERS: Final[Finders[NodeGroupFacts]] = {
    **{pattern: find for cloud in CLOUDS for pattern, find in cloud.finders.items()},
    EXISTING_POOL: existing_pool,
    NODE: simulated_node,
    CONFIG_MAP: node_templates,
}
"""Finders of node groups, by pattern of the resource's type token."""


def node_groups(resource: Resource) -> Iterator[NodeGroupFacts]:
    """Return the node groups that a resource creates; none for most resources."""
    return find_in(resource, _FINDERS)


def some_group(stack: Stack, test: Callable[[NodeGroupFacts], bool]) -> bool:
    """Return whether ``test`` holds for one of the stack's groups, as far as that can be known (``some``)."""
    return some(stack, lambda resource: some(node_groups(resource), test))


def of_role(role: PoolRole) -> Callable[[NodeGroupFacts], bool]:
    """Return a test for groups with ``role``."""
    return lambda group: group.role is role


def holds_user_work(group: NodeGroupFacts) -> bool:
    """Return whether user work may use the group, by its role."""
    return group.role is not None and group.role.holds_user_work


def takes_plain_jobs(group: NodeGroupFacts) -> bool:
    """Return whether the group is for jobs without special needs, by its role."""
    return group.role is not None and group.role.takes_plain_jobs


def user_groups(stack: Stack) -> Iterator[NodeGroupFacts]:
    """Return the node groups that user work may use."""
    return (group for resource in stack for group in node_groups(resource) if holds_user_work(group))


def makes_groups(stack: Stack) -> bool:
    """Return whether the stack creates node groups at all."""
    return some_group(stack, lambda _: True)


NODE_GROUPS: Final = EachOf(
    noun="each node group",
    types=re.compile("|".join(_FINDERS)),
    find=node_groups,
)

ELASTIC_GROUPS: Final = replace(
    NODE_GROUPS,
    noun="each elastic node group",
    concerns=lambda group, _: group.is_elastic,
)

DATA_GROUPS: Final = replace(
    NODE_GROUPS,
    noun="each node group of role `data`",
    concerns=lambda group, _: group.role is PoolRole.DATA,
)

INITIAL_GROUPS: Final = replace(
    NODE_GROUPS,
    noun="each node group of role `initial`",
    concerns=lambda group, _: group.role is PoolRole.INITIAL,
)


def holders(stack: Stack) -> list[Resource]:
    """Return the resources that can hold node groups, so that a stack rule looks for groups in few of them."""
    return [resource for resource in stack if NODE_GROUPS.types.fullmatch(resource.type)]
