"""NG-08: the initial group is never reclaimed by the cloud."""

from collections.abc import Iterator

from components.contract.lifecycle import Lifecycle
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import INITIAL_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Demand on-demand instances, by what the cloud is told and not by a label."""
    if group.lifecycle is not Lifecycle.ON_DEMAND:
        yield Finding(f"{group} is bought {group.lifecycle or 'in an unstated way'}, wanted {Lifecycle.ON_DEMAND}.")


RULE = Rule(
    id="NG-08",
    slug="initial-group-is-on-demand",
    title="The initial group consists of on-demand instances",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Development Cluster and Production Cluster",
    applies_to=INITIAL_GROUPS,
    why="The cloud may reclaim a spot instance at any time, and the core services with it.",
    fix="Buy the group on demand: EKS capacityType ON_DEMAND, AKS scaleSetPriority Regular.",
    check=check,
)
