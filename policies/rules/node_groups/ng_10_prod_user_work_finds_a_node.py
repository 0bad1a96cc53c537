"""NG-10: production keeps a warm node for user work."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.lifecycle import Lifecycle
from components.contract.pools import JOB_ROLES
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.node_groups import NodeGroupFacts, some_group, takes_plain_jobs

RECOMMENDED = 1


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require one group with a minimum above 0; others, such as for rare machine types, may scale to zero."""
    if some_group(stack, _is_for_steady_work) and not some_group(stack, _is_warm):
        yield Finding(
            f"Every on-demand group of role {JOB_ROLES} may scale to zero; "
            f"expected one with a minimum of at least {RECOMMENDED}."
        )


def _is_for_steady_work(group: NodeGroupFacts) -> bool:
    return takes_plain_jobs(group) and group.lifecycle is Lifecycle.ON_DEMAND


def _is_warm(group: NodeGroupFacts) -> bool:
    return _is_for_steady_work(group) and (group.size_min or 0) >= RECOMMENDED


RULE = Rule(
    id="NG-10",
    slug="prod-user-work-finds-a-node",
    title="A production cluster should always have a node for user work",
    severity=Severity.LOW,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="Iguazio best practices, Production Cluster",
    applies_to=WholeStack(),
    why="Otherwise the first request after an idle period waits minutes for a machine to start.",
    fix=f"Set the minimum size of an on-demand pool of role {JOB_ROLES} to at least {RECOMMENDED}.",
    check=check,
)
