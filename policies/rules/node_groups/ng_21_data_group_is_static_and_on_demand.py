"""NG-21: no data node goes away by itself."""

from collections.abc import Iterator

from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.rules.node_groups.ng_07_initial_group_is_static import check as is_static
from policies.rules.node_groups.ng_08_initial_group_is_on_demand import check as is_on_demand
from policies.views.node_groups import DATA_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, context: Context) -> Iterator[Finding]:
    """Demand of data nodes what is demanded of the core services' nodes."""
    yield from is_on_demand(group, context)
    yield from is_static(group, context)


RULE = Rule(
    id="NG-21",
    slug="data-group-is-static-and-on-demand",
    title="A data group has a fixed size and consists of on-demand instances",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, data nodes",
    applies_to=DATA_GROUPS,
    why="A node that is scaled in or reclaimed takes what is on its NVMe disks with it.",
    fix="Set smallest, largest and desired size to the same number and buy the group on demand.",
    check=check,
)
