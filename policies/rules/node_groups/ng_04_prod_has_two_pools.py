"""NG-04: a production cluster has several pools."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.node_groups import NodeGroupFacts, makes_groups, some_group

REQUIRED = 2


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Count pools, not groups: one pool may span several zones with a group each."""
    pools: set[str] = set()

    def completes(group: NodeGroupFacts) -> bool:
        pools.add(group.pool)
        return len(pools) == REQUIRED

    if makes_groups(stack) and not some_group(stack, completes):
        yield Finding(f"The stack has only the pool {', '.join(pools)}; expected at least {REQUIRED} pools.")


RULE = Rule(
    id="NG-04",
    slug="prod-has-two-pools",
    title="A production cluster must have at least two pools",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Production Cluster",
    applies_to=WholeStack(),
    why="With a single pool, core services and user work compete for the same machines.",
    fix=f"Add the missing pool: role initial for core services or workload for user work (node label {LabelKey.POOL}).",
    check=check,
)
