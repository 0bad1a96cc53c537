"""NG-07: the initial group has a fixed size."""

from collections.abc import Iterator

from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import INITIAL_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require equal bounds, and an equal desired size if one is set."""
    smallest, largest = group.size_min, group.size_max
    if smallest is None or smallest != largest:
        yield Finding(f"{group} may have {smallest or 0} to {largest or 'any number of'} nodes; expected a fixed size.")
    elif group.size_desired not in (None, smallest):
        yield Finding(f"{group} has a fixed size of {smallest} nodes but a desired size of {group.size_desired}.")


RULE = Rule(
    id="NG-07",
    slug="initial-group-is-static",
    title="The initial group must have a fixed size",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Development Cluster and Production Cluster",
    applies_to=INITIAL_GROUPS,
    why="A scale-in would evict core services, on which the whole platform depends.",
    fix="Set minimum, maximum and desired size to the same number; on AKS leave the pool's autoscaler off.",
    check=check,
)
