"""NG-05: the initial group of a development cluster is never empty."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import INITIAL_GROUPS, NodeGroupFacts

REQUIRED, RECOMMENDED = 1, 2


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require one node, recommend two."""
    found = group.size_min or 0
    if found < REQUIRED:
        yield Finding(f"{group} may scale down to {found} nodes; expected at least {REQUIRED}.")
    elif found < RECOMMENDED:
        yield Finding(f"{group} has a minimum of {found} node, recommended {RECOMMENDED}.", advice=True)


RULE = Rule(
    id="NG-05",
    slug="dev-initial-group-has-nodes",
    title="The initial group of a development cluster must have at least one node, preferably two",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.MANDATORY, Environment.PROD: Level.OFF},
    source="Iguazio best practices, Development Cluster",
    applies_to=INITIAL_GROUPS,
    why="Core services need a node to run on; with a single one, any node failure stops the platform.",
    fix=f"Set the minimum size to {RECOMMENDED} ({REQUIRED} is allowed).",
    check=check,
)
