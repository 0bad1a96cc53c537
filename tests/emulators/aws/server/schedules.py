"""Scheduled actions of Auto Scaling groups, in moto's own store: moto keeps them and runs none.

moto keeps actions by their names alone; AWS by group and name, and so does this.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from emulators.aws.server import autoscaling, store
from emulators.aws.server.errors import AwsError

_WEEK_MINUTES: Final = 8 * 24 * 60


def matches(recurrence: str, zone: str, moment: datetime) -> bool:
    """Return whether an action runs in the minute of ``moment``.

    Parameters
    ----------
    recurrence
        Five fields, each ``*`` or numbers with commas between them: Unix's cron without steps, ranges and names.
    zone
        Of the IANA database.
    """
    local = moment.astimezone(ZoneInfo(zone))
    parts = (local.minute, local.hour, local.day, local.month, local.isoweekday() % 7)
    return all(
        field == "*" or part in map(int, field.split(","))
        for field, part in zip(recurrence.split(), parts, strict=True)
    )


def next_start(recurrence: str, zone: str, after: datetime) -> datetime | None:
    """Return when an action runs next within eight days."""
    begin = after.astimezone(UTC).replace(second=0, microsecond=0)
    minutes = (begin + timedelta(minutes=number) for number in range(1, _WEEK_MINUTES))
    return next((minute for minute in minutes if matches(recurrence, zone, minute)), None)


def check_put(params: dict[str, Any]) -> None:
    """Refuse what AWS refuses of an action.

    Sources: hashicorp/terraform#17238 (no group), TerraConstructs/base#127 (the same time); botocore's model of
    PutScheduledUpdateGroupAction (a start in the past).
    """
    name = params["AutoScalingGroupName"]
    if name not in store.autoscaling().autoscaling_groups:
        raise AwsError("ValidationError", 400, "AutoScalingGroup name not found - null")
    start = params.get("StartTime")
    if start and start < datetime.now(UTC):
        raise AwsError("ValidationError", 400, "Given start time is in the past")
    when = params.get("Recurrence"), params.get("TimeZone")
    for other in _of_group(name):
        is_another = other.scheduled_action_name != params["ScheduledActionName"]
        if is_another and when[0] and (other.recurrence, other.time_zone) == when:
            raise AwsError("AlreadyExists", 400, "Scheduled action with this scheduled start time already exists")


def put(params: dict[str, Any]) -> None:
    """Keep an action that was just put together with those of other groups, with the start that AWS computes."""
    actions, name = store.autoscaling().scheduled_actions, params["ScheduledActionName"]
    action = actions.pop(name)
    if action.recurrence and not action.start_time:
        zone = action.time_zone or "UTC"
        action.start_time = next_start(action.recurrence, zone, datetime.now(UTC))
    actions[_key(params["AutoScalingGroupName"], name)] = action


def deleted(params: dict[str, Any]) -> None:
    """Drop an action that was just deleted."""
    store.autoscaling().scheduled_actions.pop(_key(params["AutoScalingGroupName"], params["ScheduledActionName"]), None)


def run(moment: datetime) -> list[str]:
    """Run every action whose minute it is, and return their groups and names.

    A larger minimum raises the desired size, a smaller maximum lowers it: botocore's model of UpdateAutoScalingGroup.
    """
    ran = []
    for action in [*store.autoscaling().scheduled_actions.values()]:
        if not (action.recurrence and matches(action.recurrence, action.time_zone or "UTC", moment)):
            continue
        group = action.auto_scaling_group_name
        now = autoscaling.size_of(group)
        low, high = (
            old if new is None else new for old, new in ((now.minimum, action.min_size), (now.maximum, action.max_size))
        )
        wanted = now.desired if action.desired_capacity is None else action.desired_capacity
        autoscaling.resize(group, autoscaling.Size(low, high, min(max(wanted, low), high)))
        ran.append(f"{group} {action.scheduled_action_name}")
    return sorted(ran)


def _of_group(group: str) -> Iterator[Any]:
    actions = store.autoscaling().scheduled_actions.values()
    return (action for action in actions if action.auto_scaling_group_name == group)


def _key(group: str, name: str) -> str:
    return f"{group}/{name}"
