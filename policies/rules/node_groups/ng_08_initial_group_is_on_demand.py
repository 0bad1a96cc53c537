"""NG-08: the initial group uses on-demand instances."""

from collections.abc import Iterator

from components.contract.lifecycle import Lifecycle
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import INITIAL_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require on-demand instances in the cloud's own setting; a label proves nothing."""
    if group.lifecycle is not Lifecycle.ON_DEMAND:
        yield Finding(f"{group} has lifecycle {group.lifecycle or 'unset'}; expected {Lifecycle.ON_DEMAND}.")


RULE = Rule(
    id="NG-08",
    slug="initial-group-is-on-demand",
    title="The initial group must use on-demand instances",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Development Cluster and Production Cluster",
    applies_to=INITIAL_GROUPS,
    why="The cloud may reclaim a spot instance, and the core services on it, at any time.",
    fix="Set capacityType: ON_DEMAND on EKS, scaleSetPriority: Regular on AKS.",
    check=check,
)
