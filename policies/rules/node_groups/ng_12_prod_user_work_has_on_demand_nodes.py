"""NG-12: in production, work that must not be interrupted has nodes to run on."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.lifecycle import Lifecycle
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.node_groups import NodeGroupFacts, of_role, some_group


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand one on-demand group: spot groups beside it are for work that says that it may be interrupted."""
    if some_group(stack, of_role(PoolRole.WORKLOAD)) and not some_group(stack, _is_kept):
        yield Finding(f"No group of role {PoolRole.WORKLOAD} is {Lifecycle.ON_DEMAND}, wanted at least one.")


def _is_kept(group: NodeGroupFacts) -> bool:
    return group.role is PoolRole.WORKLOAD and group.lifecycle is Lifecycle.ON_DEMAND


RULE = Rule(
    id="NG-12",
    slug="prod-user-work-has-on-demand-nodes",
    title="A production cluster has on-demand nodes for user work",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="Iguazio best practices, Production Cluster",
    applies_to=WholeStack(),
    why="A run of MLRun that loses its spot node is not started again, and a service that does is gone for minutes.",
    fix=f"Make a pool of role {PoolRole.WORKLOAD} {Lifecycle.ON_DEMAND}; keep spot pools beside it.",
    check=check,
)
