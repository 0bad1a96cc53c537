"""Scheduled actions of node groups: office hours in AWS's terms."""

from collections.abc import Callable

import pulumi
from pulumi_aws.autoscaling import Schedule

from components.contract.eks.hours import LEFT_ALONE, GroupHours


def scheduled_actions(
    name: str, hours: GroupHours, target: pulumi.Input[str | None], child: Callable[..., pulumi.ResourceOptions]
) -> None:
    """Declare the scheduled actions of one Auto Scaling group.

    Parameters
    ----------
    name
        Logical name of the node group.
    target
        Name of its Auto Scaling group.
    child
        Returns the options of a child of the node group's component.
    """
    earlier: list[pulumi.Resource] = []
    for action in hours.actions:
        made = Schedule(
            f"{name}/{action.part}",
            autoscaling_group_name=target,
            scheduled_action_name=action.name,
            recurrence=action.recurrence,
            time_zone=action.time_zone,
            min_size=action.low,
            desired_capacity=action.size,
            max_size=LEFT_ALONE,
            # AWS refuses a second action of a group for the same time, so the old one goes first. Of two requests at
            # once it refuses one, whatever their times: https://github.com/TerraConstructs/base/issues/127.
            opts=child(delete_before_replace=True, depends_on=list(earlier)),
        )
        earlier.append(made)
