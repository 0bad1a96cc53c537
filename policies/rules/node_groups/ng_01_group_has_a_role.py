"""NG-01: every node group says what it is for."""

from collections.abc import Iterator

from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Demand one of the contract's roles."""
    if not group.role:
        found = group.label(LabelKey.ROLE) or "none"
        yield Finding(f"{group} has role {found}, wanted one of {', '.join(PoolRole)}.")


RULE = Rule(
    id="NG-01",
    slug="group-has-a-role",
    title="Every node group has a role of the contract",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Node Groups",
    applies_to=NODE_GROUPS,
    why="Core services and user work are kept apart by group, and each other rule asks what the group is for.",
    fix=f"Label the nodes {LabelKey.ROLE} with the pool's role.",
    check=check,
)
