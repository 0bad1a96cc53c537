"""NG-14: every elastic group is managed by an autoscaler."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.autoscalers import missing_for
from policies.views.node_groups import node_groups


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require an autoscaler that discovers the group."""
    for resource in stack:
        for group in node_groups(resource):
            if group.is_elastic and (missing := missing_for(group, stack)):
                yield Finding(
                    f"{group} is elastic, but no autoscaler manages it: {missing} is missing.",
                    urn=resource.urn,
                )


RULE = Rule(
    id="NG-14",
    slug="elastic-groups-are-scaled",
    title="Every elastic group must be discovered by an autoscaler",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Requests and Limits (auto-scaling)",
    applies_to=WholeStack(),
    why="Otherwise the group stays at its initial size, and pods wait although the pool could grow.",
    fix="Add the autoscaler for the cluster's kind and its discovery tag on the group, or set a fixed size.",
    check=check,
)
