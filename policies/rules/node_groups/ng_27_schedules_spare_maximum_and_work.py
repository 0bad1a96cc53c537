"""NG-27: scheduled actions of node groups keep the maximum, and in production the running work."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of
from policies.views.node_groups.aws_machines import SCHEDULE

LEFT_ALONE: Final = -1
"""Size that an action leaves as it is; one that is left out is 0.

Source: hashicorp/terraform-provider-aws, internal/service/autoscaling/schedule.go.
"""


def check(schedule: Resource, context: Context) -> Iterator[Finding]:
    """Require a maximum that stays, and in production a desired size that stays."""
    if (most := schedule.props.at("maxSize").integer() or 0) != LEFT_ALONE:
        yield Finding(f"Schedule '{schedule.name}' sets the maximum to {most}; expected maxSize: {LEFT_ALONE}.")
    size = schedule.props.at("desiredCapacity").integer() or 0
    if context.environment is Environment.PROD and size != LEFT_ALONE:
        yield Finding(
            f"Schedule '{schedule.name}' sets the number of nodes to {size}; expected desiredCapacity: {LEFT_ALONE} in "
            "production."
        )


RULE = Rule(
    id="NG-27",
    slug="schedules-spare-maximum-and-work",
    title="Scheduled actions must keep the maximum of a group, and in production its nodes",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="EKS user guide, Managed node groups (a maximum of at least 1; draining ignores disruption budgets)",
    applies_to=resources_of("each scheduled action of an Auto Scaling group", SCHEDULE),
    why="EKS refuses updates of a group whose maximum is 0, and a smaller size terminates nodes with the pods on them.",
    fix="Lower the minimum only: the autoscaler then removes nodes once they are empty. `officeHours` does so.",
    check=check,
)
