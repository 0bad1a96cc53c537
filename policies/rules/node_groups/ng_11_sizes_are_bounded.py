"""NG-11: a group that grows by itself has an end that somebody decided on."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import ELASTIC_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, context: Context) -> Iterator[Finding]:
    """Demand a largest size within the budget, and bounds that contain the desired size."""
    smallest, largest, most = group.size_min or 0, group.size_max, context.choices.largest_pool
    if largest is None:
        yield Finding(f"{group} has no largest size, wanted one of at most {most} nodes.")
    elif largest > most:
        yield Finding(f"{group} may grow to {largest} nodes, wanted at most {most}.")
    elif smallest > largest:
        yield Finding(f"{group} has a smallest size of {smallest} and a largest of {largest}, wanted them in order.")
    elif (desired := group.size_desired) is not None and not smallest <= desired <= largest:
        yield Finding(f"{group} asks for {desired} nodes, wanted {smallest} to {largest}.")


RULE = Rule(
    id="NG-11",
    slug="sizes-are-bounded",
    title="A group that grows has a largest size within the budget",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Production Cluster (user workloads node group)",
    applies_to=ELASTIC_GROUPS,
    why="A loop that makes jobs makes machines too, and the bill comes at the end of the month.",
    fix="Set the largest size from the expected work; policies.largestPool in the stack file bounds all pools.",
    check=check,
)
