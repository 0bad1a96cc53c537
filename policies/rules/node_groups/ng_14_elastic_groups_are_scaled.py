"""NG-14: somebody makes the nodes that an elastic group may grow by."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.autoscalers import missing_for
from policies.views.node_groups import node_groups


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand an autoscaler, and that it finds the group."""
    for resource in stack:
        for group in node_groups(resource):
            if group.is_elastic and (missing := missing_for(group, stack)):
                yield Finding(f"{group} is elastic, but nothing scales it: {missing} is missing.", urn=resource.urn)


RULE = Rule(
    id="NG-14",
    slug="elastic-groups-are-scaled",
    title="Every elastic group has an autoscaler that finds it",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Requests and Limits (auto-scaling)",
    applies_to=WholeStack(),
    why="The group stays at its first size: work waits although the pool seems to have room to grow.",
    fix="Make the autoscaler of the cluster's kind and give the group the tag it looks for, or fix the pool's size.",
    check=check,
)
