"""Office hours on EKS: the scheduled actions of the node groups' Auto Scaling groups.

They never change a maximum: EKS requires at least 1, and after a refresh every update would set a 0 again.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Final

from pydantic import Field

from components.contract.choices import Explained
from components.contract.groups import NodeGroup
from components.contract.hours import OfficeHours
from components.contract.pools import PoolRole

LEFT_ALONE: Final = -1
"""Size that an action does not change.

If it were left out, it would be 0: hashicorp/terraform-provider-aws, internal/service/autoscaling/schedule.go, 2024.
"""

STOPS_LATER: Final = 20
"""Minutes after which the other groups follow the initial one, where the autoscaler runs: it would start nodes again.

EKS drains nodes for up to 15 minutes: https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html.
"""

STARTS_LATER: Final = 10
"""Minutes after which the other groups follow the initial one in the morning, so that core services come first."""

HASH_LENGTH: Final = 8


@dataclass(frozen=True, kw_only=True)
class ScheduledAction:
    """One scheduled action of an Auto Scaling group; ``LEFT_ALONE`` is a size that it does not change."""

    group: str
    """Name of the node group."""
    part: str
    """``morning`` or ``night``."""
    recurrence: str
    time_zone: str
    low: int
    """Minimum size."""
    size: int = LEFT_ALONE
    """Desired size."""

    @property
    def name(self) -> str:
        """Its name in AWS, which is unique among all groups' actions, and differs after every change.

        The provider's id is only the name, by which `recover` finds actions that are missing in the state. AWS computes
        the start of an action's next run, and the provider would send this start again with a change: the action would
        run then as well, or AWS would refuse it because the time has passed.
        """
        what = f"{self.recurrence} {self.time_zone} {self.low} {self.size}"
        return f"{self.group}-{self.part}-{hashlib.sha256(what.encode()).hexdigest()[:HASH_LENGTH]}"


@dataclass(frozen=True, kw_only=True)
class GroupHours:
    """Effects of schedules on one group.

    Parameters
    ----------
    actions
        At most one in the morning and one at night.
    low_by_night, low_by_day
        Its minimum size.
    sleeps
        Whether it has no nodes by night.
    """

    actions: tuple[ScheduledAction, ...]
    low_by_night: int
    low_by_day: int
    sleeps: bool

    @property
    def tag(self) -> str:
        """Value of ``OwnTag.HOURS``, so that sizes set by schedules are not reported as drift."""
        return f"night={self.low_by_night} day={self.low_by_day}"


def group_hours(group: NodeGroup, cluster: OfficeHours | None) -> GroupHours | None:
    """Return the effects of schedules on a group; None without hours.

    Parameters
    ----------
    group
        A group of any pool except data.
    cluster
        Hours of the whole cluster; None if it has none.
    """
    if cluster:
        actions = tuple(_of_cluster(group, cluster))
        return GroupHours(actions=actions, low_by_night=0, low_by_day=group.size.min, sleeps=True)
    if (hours := group.hours) is None:
        return None
    bounds = (("night", hours.closes, hours.night_min), ("morning", hours.opens, group.size.min))
    actions = tuple(
        ScheduledAction(group=group.name, part=part, recurrence=hours.cron(time), time_zone=hours.time_zone, low=low)
        for part, time, low in bounds
    )
    return GroupHours(actions=actions, low_by_night=hours.night_min, low_by_day=group.size.min, sleeps=False)


def _of_cluster(group: NodeGroup, hours: OfficeHours) -> Iterator[ScheduledAction]:
    is_first = group.role is PoolRole.INITIAL
    action = partial(ScheduledAction, group=group.name, time_zone=hours.time_zone)
    night = hours.cron(hours.closes, minutes_later=0 if is_first else STOPS_LATER)
    yield action(part="night", recurrence=night, low=0, size=0)
    if group.size.min:
        morning = hours.cron(hours.opens, minutes_later=0 if is_first else STARTS_LATER)
        # The autoscaler may have started more nodes for pods that waited; AWS raises a size below the minimum.
        size = LEFT_ALONE if group.is_elastic else group.size.min
        yield action(part="morning", recurrence=morning, low=group.size.min, size=size)


EksOfficeHours = Annotated[
    OfficeHours | None,
    Explained(
        "Only an explicit choice stops running work.",
        "Scheduled actions of all node groups: outside the hours the cluster has no nodes (docs/office-hours.md).",
    ),
    Field(
        description="Hours of a development cluster, which has no nodes outside them.",
        examples=[{"from": "08:00", "to": "19:00", "timeZone": "Europe/Berlin"}],
    ),
]
"""The field ``office_hours`` of an EKS cluster."""
