"""NG-15: an update does not undo what the autoscaler decided."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import ELASTIC_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Demand that the engine ignores changes of the desired size, by the name that the engine understands."""
    if group.resets_size:
        yield Finding(f"{group} is elastic, but an update sends its desired size again.")


RULE = Rule(
    id="NG-15",
    slug="autoscaled-size-is-left-alone",
    title="Updates leave the size of an elastic group alone",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Requests and Limits (auto-scaling)",
    applies_to=ELASTIC_GROUPS,
    why="Each update would set the group back to its first size and evict the work on all nodes above it.",
    fix="Set ignore_changes: scalingConfig.desiredSize on EKS, count on AKS; the engine overlooks any other spelling.",
    check=check,
)
