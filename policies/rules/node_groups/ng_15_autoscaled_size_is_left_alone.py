"""NG-15: updates keep the size that the autoscaler set."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import ELASTIC_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require ignore_changes for the desired size, with the property name that the engine recognises."""
    if group.resets_size:
        yield Finding(f"{group} is elastic, but an update resets its desired size.")


RULE = Rule(
    id="NG-15",
    slug="autoscaled-size-is-left-alone",
    title="Updates must not reset the size of an elastic group",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Requests and Limits (auto-scaling)",
    applies_to=ELASTIC_GROUPS,
    why="Otherwise each update resets the group to its initial size and evicts work from the removed nodes.",
    fix="Set ignore_changes: scalingConfig.desiredSize on EKS, count on AKS; the engine ignores any other spelling.",
    check=check,
)
