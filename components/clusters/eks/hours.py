"""Scheduled actions of node groups: office hours in AWS's terms."""

from collections.abc import Callable, Sequence

import pulumi
from pulumi_aws.autoscaling import Schedule

from components.contract.eks.hours import LEFT_ALONE, GroupHours


def scheduled_actions(
    name: str, hours: GroupHours, target: pulumi.Output[str | None], child: Callable[..., pulumi.ResourceOptions]
) -> None:
    """Declare the scheduled actions of one Auto Scaling group.

    AWS refuses a second action of a group for the same time, and one of two parallel requests for a group:
    https://github.com/TerraConstructs/base/issues/127. So each action depends on the one before it, by the group's
    name: a change deletes the old actions, the last one first, before it creates new ones, even if times are swapped.

    Parameters
    ----------
    name
        Logical name of the node group.
    target
        Name of its Auto Scaling group.
    child
        Returns the options of a child of the node group's component.
    """
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
            opts=child(delete_before_replace=True),
        )
        target = pulumi.Output.all(target, made.scheduled_action_name).apply(_first)


def _first(both: Sequence[str | None]) -> str | None:
    return both[0]
