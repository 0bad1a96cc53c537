"""NG-03: core services and user work use different node groups."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import TRUE, LabelKey
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.node_groups import holds_user_work, makes_groups, node_groups, some_group


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require a group for user work, and no user-work label on other groups."""
    if makes_groups(stack) and not some_group(stack, holds_user_work):
        yield Finding("The stack creates node groups, but none for user work.")
    for resource in stack:
        for group in node_groups(resource):
            if group.role and not holds_user_work(group) and group.label(LabelKey.USER_WORKLOADS) == TRUE:
                yield Finding(
                    f"{group} has the role {group.role} and the label {LabelKey.USER_WORKLOADS}; only user pools may "
                    "have it.",
                    urn=resource.urn,
                )


RULE = Rule(
    id="NG-03",
    slug="user-work-has-its-own-group",
    title="Core services and user work must have separate node groups",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Node Groups",
    applies_to=WholeStack(),
    why="A job that exhausts a node's memory would take down the core services on that node.",
    fix=f"Add a pool of role {PoolRole.WORKLOAD}; remove the label {LabelKey.USER_WORKLOADS} from pools of other "
    "roles.",
    check=check,
)
