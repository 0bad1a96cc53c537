"""NG-07: the initial group never changes its size by itself."""

from collections.abc import Iterator

from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import INITIAL_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Demand equal bounds, and a desired size, where one is given, that equals them."""
    smallest, largest = group.size_min, group.size_max
    if smallest is None or smallest != largest:
        yield Finding(f"{group} may hold {smallest or 0} to {largest or 'any number of'} nodes, wanted one fixed size.")
    elif group.size_desired not in (None, smallest):
        yield Finding(f"{group} is fixed at {smallest} nodes but asks for {group.size_desired}.")


RULE = Rule(
    id="NG-07",
    slug="initial-group-is-static",
    title="The initial group has a fixed size",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Development Cluster and Production Cluster",
    applies_to=INITIAL_GROUPS,
    why="A scale-in would evict core services, which everything else on the platform depends on.",
    fix="Set smallest, largest and desired size to the same number; on AKS leave the pool's autoscaler off.",
    check=check,
)
