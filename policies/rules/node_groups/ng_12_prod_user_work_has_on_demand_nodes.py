"""NG-12: production has on-demand nodes for user work."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.lifecycle import Lifecycle
from components.contract.pools import JOB_ROLES
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.node_groups import NodeGroupFacts, some_group, takes_plain_jobs


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require one on-demand group; spot groups may exist beside it for interruptible work."""
    if some_group(stack, takes_plain_jobs) and not some_group(stack, _is_kept):
        yield Finding(f"No group of role {JOB_ROLES} has lifecycle {Lifecycle.ON_DEMAND}; expected at least one.")


def _is_kept(group: NodeGroupFacts) -> bool:
    return takes_plain_jobs(group) and group.lifecycle is Lifecycle.ON_DEMAND


RULE = Rule(
    id="NG-12",
    slug="prod-user-work-has-on-demand-nodes",
    title="A production cluster should have on-demand nodes for user work",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="Iguazio best practices, Production Cluster",
    applies_to=WholeStack(),
    why="MLRun does not restart a run that loses its spot node, and a service that loses one is down for minutes.",
    fix=f"Add a pool of role {JOB_ROLES} with lifecycle {Lifecycle.ON_DEMAND}; spot pools may stay beside it.",
    check=check,
)
