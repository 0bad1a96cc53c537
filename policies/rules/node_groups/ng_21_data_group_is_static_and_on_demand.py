"""NG-21: data groups have a fixed size and on-demand instances."""

from collections.abc import Iterator

from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.rules.node_groups.ng_07_initial_group_is_static import check as is_static
from policies.rules.node_groups.ng_08_initial_group_is_on_demand import check as is_on_demand
from policies.views.node_groups import DATA_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, context: Context) -> Iterator[Finding]:
    """Apply the checks of the initial group (NG-07, NG-08) to data groups."""
    yield from is_on_demand(group, context)
    yield from is_static(group, context)


RULE = Rule(
    id="NG-21",
    slug="data-group-is-static-and-on-demand",
    title="A data group must have a fixed size and on-demand instances",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, data nodes",
    applies_to=DATA_GROUPS,
    why="When a node is scaled in or reclaimed, the data on its NVMe disks is lost.",
    fix="Set minimum, maximum and desired size to the same number, and lifecycle: on-demand.",
    check=check,
)
