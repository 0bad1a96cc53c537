"""NG-11: elastic groups have a maximum size within the budget."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import ELASTIC_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, context: Context) -> Iterator[Finding]:
    """Require a maximum size within the budget, and a desired size within the bounds."""
    smallest, largest, most = group.size_min or 0, group.size_max, context.choices.largest_pool
    if largest is None:
        yield Finding(f"{group} has no maximum size; expected at most {most} nodes.")
    elif largest > most:
        yield Finding(f"{group} may scale up to {largest} nodes; expected at most {most}.")
    elif smallest > largest:
        yield Finding(f"{group} has a minimum size of {smallest} above its maximum of {largest}.")
    elif (desired := group.size_desired) is not None and not smallest <= desired <= largest:
        yield Finding(f"{group} has a desired size of {desired} nodes; expected {smallest} to {largest}.")


RULE = Rule(
    id="NG-11",
    slug="sizes-are-bounded",
    title="An elastic group must have a maximum size within the budget",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Production Cluster (user workloads node group)",
    applies_to=ELASTIC_GROUPS,
    why="A runaway loop that submits jobs also adds machines, and their cost.",
    fix="Set the maximum size to what the expected work needs; policies.largestPool in the stack file limits all "
    "pools.",
    check=check,
)
