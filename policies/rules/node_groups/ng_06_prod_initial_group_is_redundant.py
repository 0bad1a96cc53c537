"""NG-06: the initial group of a production cluster survives the loss of a node."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import INITIAL_GROUPS, NodeGroupFacts

REQUIRED = 2


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require two nodes."""
    found = group.size_min or 0
    if found < REQUIRED:
        yield Finding(f"{group} has a minimum size of {found}; expected at least {REQUIRED}.")


RULE = Rule(
    id="NG-06",
    slug="prod-initial-group-is-redundant",
    title="The initial group of a production cluster must have at least two nodes",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Production Cluster",
    applies_to=INITIAL_GROUPS,
    why="With a single node, any node failure or upgrade stops every core service.",
    fix=f"Set the minimum size to at least {REQUIRED}.",
    check=check,
)
