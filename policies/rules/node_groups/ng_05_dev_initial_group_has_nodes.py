"""NG-05: the initial group of a development cluster is never empty."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import INITIAL_GROUPS, NodeGroupFacts

REQUIRED, RECOMMENDED = 1, 2


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Demand one node, advise two."""
    found = group.size_min or 0
    if found < REQUIRED:
        yield Finding(f"{group} may shrink to {found} nodes, wanted at least {REQUIRED}.")
    elif found < RECOMMENDED:
        yield Finding(f"{group} may have only {found} node, better {RECOMMENDED}.", advice=True)


RULE = Rule(
    id="NG-05",
    slug="dev-initial-group-has-nodes",
    title="The initial group of a development cluster has at least one node, better two",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.MANDATORY, Environment.PROD: Level.OFF},
    source="Iguazio best practices, Development Cluster",
    applies_to=INITIAL_GROUPS,
    why="Without a node no core service runs; with a single one, every node failure stops the platform.",
    fix=f"Set the smallest size to {RECOMMENDED} ({REQUIRED} is tolerated).",
    check=check,
)
