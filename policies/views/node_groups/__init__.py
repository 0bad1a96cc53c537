"""One view of node groups for all kinds of cluster, so that a rule about them is written once.

A new kind of cluster adds a module with its ``NodeGroupFacts`` and a line in ``_FINDERS``.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from components.contract.pools import PoolRole
from policies.resource import Resource, Stack
from policies.rule import EachOf
from policies.values import some
from policies.views.node_groups.aks import AGENT_POOL, MANAGED_CLUSTER, agent_pool, inline_agent_pools
from policies.views.node_groups.eks import NODE_GROUP, managed_node_group
from policies.views.node_groups.facts import NodeGroupFacts
from policies.views.node_groups.local import CONFIG_MAP, NODE, node_templates, simulated_node

__all__ = [
    "DATA_GROUPS",
    "ELASTIC_GROUPS",
    "INITIAL_GROUPS",
    "NODE_GROUPS",
    "NodeGroupFacts",
    "holders",
    "makes_groups",
    "node_groups",
    "of_role",
    "some_group",
]

_FINDERS: Final[dict[str, Callable[[Resource], Iterator[NodeGroupFacts]]]] = {
    NODE_GROUP: managed_node_group,
    AGENT_POOL: agent_pool,
    MANAGED_CLUSTER: inline_agent_pools,
    NODE: simulated_node,
    CONFIG_MAP: node_templates,
}
"""What finds the groups, by pattern of the resource's type token."""


def node_groups(resource: Resource) -> Iterator[NodeGroupFacts]:
    """Return the node groups that a resource makes; none for most resources."""
    for pattern, find in _FINDERS.items():
        if re.fullmatch(pattern, resource.type):
            yield from find(resource)


def some_group(stack: Stack, test: Callable[[NodeGroupFacts], bool]) -> bool:
    """Return whether ``test`` holds for one of the stack's groups, as far as that can be known (``some``)."""
    return some(stack, lambda resource: some(node_groups(resource), test))


def of_role(role: PoolRole) -> Callable[[NodeGroupFacts], bool]:
    """Return the test whether a group has ``role``."""
    return lambda group: group.role is role


def makes_groups(stack: Stack) -> bool:
    """Return whether the stack makes node groups at all; the servers may be somebody else's."""
    return some_group(stack, lambda _: True)


NODE_GROUPS: Final = EachOf(
    noun="each node group",
    types=re.compile("|".join(_FINDERS)),
    find=node_groups,
)

ELASTIC_GROUPS: Final = EachOf(
    noun="each node group whose size moves",
    types=NODE_GROUPS.types,
    find=node_groups,
    concerns=lambda group, _: group.is_elastic,
)

DATA_GROUPS: Final = EachOf(
    noun="each node group of role `data`",
    types=NODE_GROUPS.types,
    find=node_groups,
    concerns=lambda group, _: group.role is PoolRole.DATA,
)

INITIAL_GROUPS: Final = EachOf(
    noun="each node group of role `initial`",
    types=NODE_GROUPS.types,
    find=node_groups,
    concerns=lambda group, _: group.role is PoolRole.INITIAL,
)


def holders(stack: Stack) -> list[Resource]:
    """Return the resources that can hold node groups, so that a stack rule looks for groups in few of them."""
    return [resource for resource in stack if NODE_GROUPS.types.fullmatch(resource.type)]
