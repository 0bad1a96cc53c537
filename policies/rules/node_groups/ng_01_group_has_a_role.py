"""NG-01: every node group has a role."""

from collections.abc import Iterator

from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require one of the known roles."""
    if not group.role:
        found = group.label(LabelKey.ROLE) or "none"
        yield Finding(f"{group} has role {found}; expected one of {', '.join(PoolRole)}.")


RULE = Rule(
    id="NG-01",
    slug="group-has-a-role",
    title="Every node group must have a known role",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Node Groups",
    applies_to=NODE_GROUPS,
    why="Roles separate core services from user work, and other rules depend on them.",
    fix=f"Set the node label {LabelKey.ROLE} to the pool's role.",
    check=check,
)
