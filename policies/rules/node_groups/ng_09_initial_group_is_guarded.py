"""NG-09: user work stays off the initial group."""

from collections.abc import Callable, Iterator
from typing import Final

from components.contract.clusters import spot_taint
from components.contract.environments import Environment
from components.contract.pools import PoolRole
from components.contract.taints import Taint, TaintEffect
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import some
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.type_tokens import ADMISSION_BINDING

GUARD_PREFIX: Final = "igz-"
"""Name prefix of the guard's bindings."""


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Require the admission guard of user namespaces, or a taint that user work does not tolerate."""
    if some(stack, _is_guard):
        return
    for resource in stack:
        for group in node_groups(resource):
            if group.role is PoolRole.INITIAL and not group.carries_a_taint(_keeps_user_work_off(group, context)):
                yield Finding(
                    f"{group} is open to user work: the stack has no admission guard, and the group has no taint.",
                    urn=resource.urn,
                )


def _keeps_user_work_off(group: NodeGroupFacts, context: Context) -> Callable[[Taint], bool]:
    tolerated = spot_taint(group.kind, context.profile)
    return lambda taint: taint.effect is not TaintEffect.PREFER_NO_SCHEDULE and taint != tolerated


def _is_guard(resource: Resource) -> bool:
    if resource.type != ADMISSION_BINDING:
        return False
    return (resource.props.at("metadata", "name").text() or resource.name).startswith(GUARD_PREFIX)


RULE = Rule(
    id="NG-09",
    slug="initial-group-is-guarded",
    title="The initial group must be closed to user work",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Assigning Services and Jobs to Node Groups",
    applies_to=WholeStack(),
    why="Pods without a node selector run anywhere, so jobs would compete with core services.",
    fix="Create the admission guard of components/scheduling, or taint the group if all core services tolerate the "
    "taint.",
    check=check,
)
