"""Scheduled actions in this process; what boto3 sees of them is tested with the type that the program makes."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from components.contract.hours import OfficeHours
from emulators.aws.server import autoscaling, schedules, store
from emulators.aws.server.autoscaling import GroupArgs, Size
from emulators.aws.server.errors import AwsError

NAME = "eks-gpu-2"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def group() -> Iterator[str]:
    ec2 = store.ec2()
    vpc = ec2.create_vpc("10.0.0.0/16")
    subnet = ec2.create_subnet(vpc.id, "10.0.0.0/24", availability_zone="eu-west-1a")
    autoscaling.make(GroupArgs(NAME, Size(1, 5, 2), [subnet.id], "m6i.large", {}))
    yield NAME
    autoscaling.delete(NAME)
    ec2.delete_subnet(subnet.id)
    ec2.delete_vpc(vpc.id)


def put(group: str, name: str, recurrence: str = "0 19 * * 1", zone: str = "UTC", **sizes: Any) -> None:
    given = {"AutoScalingGroupName": group, "ScheduledActionName": name, "Recurrence": recurrence, "TimeZone": zone}
    schedules.check_put(given)
    known = {key: sizes.get(key) for key in ("min_size", "max_size", "desired_capacity")}
    times = {"start_time": None, "end_time": None, "recurrence": recurrence, "timezone": zone}
    store.autoscaling().put_scheduled_update_group_action(name=group, scheduled_action_name=name, **known, **times)
    schedules.put(given)


@pytest.mark.parametrize(
    ("zone", "day"),
    [
        ("Europe/Berlin", datetime(2026, 3, 28, tzinfo=UTC)),  # summer time begins in the next night
        ("Europe/Berlin", datetime(2026, 10, 24, tzinfo=UTC)),  # and ends
        ("America/New_York", datetime(2026, 11, 1, tzinfo=UTC)),
        ("Asia/Kolkata", datetime(2026, 5, 30, tzinfo=UTC)),
    ],
)
def test_schedules_run_exactly_when_office_hours_open_and_close(zone: str, day: datetime) -> None:
    hours = OfficeHours.model_validate(
        {"days": ["saturday", "sunday", "monday"], "from": "08:30", "to": "19:00", "timeZone": zone}
    )
    opens, closes = hours.cron(hours.opens), hours.cron(hours.closes)
    was_open, changes = hours.is_open(day - MINUTE), 0
    for minute in (day + number * MINUTE for number in range(3 * 24 * 60)):
        is_open = hours.is_open(minute)
        assert schedules.matches(opens, zone, minute) == (is_open and not was_open)
        assert schedules.matches(closes, zone, minute) == (was_open and not is_open)
        changes += is_open != was_open
        was_open = is_open
    assert changes >= 4


def test_an_action_changes_the_sizes_that_it_has_and_no_others(group: str) -> None:
    put(group, "night", min_size=0)
    put(group, "off", "0 20 * * 1", min_size=0, desired_capacity=0)
    put(group, "morning", "0 8 * * 2", min_size=3)
    monday = datetime(2026, 6, 1, 19, tzinfo=UTC)
    assert schedules.run(monday - MINUTE) == []
    assert schedules.run(monday) == [f"{group} night"]
    assert autoscaling.size_of(group) == Size(0, 5, 2)
    schedules.run(monday + timedelta(hours=1))
    assert autoscaling.size_of(group) == Size(0, 5, 0)
    schedules.run(monday + timedelta(hours=13))
    assert autoscaling.size_of(group) == Size(3, 5, 3)


def test_an_action_knows_its_next_start_and_goes_with_its_group(group: str) -> None:
    put(group, "night")
    [action] = store.autoscaling().describe_scheduled_actions(group)
    assert action.start_time > datetime.now(UTC)
    assert schedules.matches("0 19 * * 1", "UTC", action.start_time)
    autoscaling.delete(group)
    assert store.autoscaling().describe_scheduled_actions(group) == []


def test_what_aws_refuses_is_refused(group: str) -> None:
    put(group, "night")
    put(group, "night", min_size=1)  # the same action again
    for name, words in (("gone", "not found"), (group, "already exists")):
        with pytest.raises(AwsError, match=words):
            put(name, "other")
    past = {"AutoScalingGroupName": group, "ScheduledActionName": "x", "StartTime": datetime(2020, 1, 1, tzinfo=UTC)}
    with pytest.raises(AwsError, match="in the past"):
        schedules.check_put(past)
