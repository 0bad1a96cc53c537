from datetime import UTC, datetime
from typing import Any

import pytest

from components.contract.hours import OfficeHours


def hours(**changes: Any) -> OfficeHours:
    return OfficeHours.model_validate({"from": "08:00", "to": "19:00", "timeZone": "Europe/Berlin", **changes})


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("when", "is_open"),
    [
        ("2026-11-25T06:59", False),
        ("2026-11-25T07:00", True),  # 08:00 in winter
        ("2026-11-25T17:59", True),
        ("2026-11-25T18:00", False),
        ("2026-07-01T06:00", True),  # 08:00 in summer
        ("2026-07-01T17:00", False),
        ("2026-11-28T12:00", False),  # Saturday
    ],
)
def test_hours_are_open_by_the_local_clock_on_their_days(when: str, is_open: bool) -> None:
    assert hours().is_open(at(when)) == is_open


@pytest.mark.parametrize(
    ("when", "opens"),
    [
        ("2026-11-25T06:00", "2026-11-25T07:00"),
        ("2026-11-25T07:00", "2026-11-26T07:00"),
        ("2026-11-27T20:00", "2026-11-30T07:00"),  # over the weekend
        ("2026-03-27T20:00", "2026-03-30T06:00"),  # over the change to summer time
    ],
)
def test_the_next_opening_is_in_the_future_and_on_an_open_day(when: str, opens: str) -> None:
    assert hours().next_opening(at(when)) == at(opens)


@pytest.mark.parametrize(
    ("start", "end", "is_open"),
    [
        ("2026-11-25T07:00", "2026-11-25T18:00", True),
        ("2026-11-25T06:59", "2026-11-25T18:00", False),
        ("2026-11-25T07:00", "2026-11-25T18:01", False),
        ("2026-11-25T10:00", "2026-11-26T10:00", False),  # the night between
    ],
)
def test_a_stretch_is_open_from_its_first_to_its_last_minute(start: str, end: str, is_open: bool) -> None:
    assert hours().is_open_between(at(start), at(end)) == is_open


def test_hours_on_one_day_open_again_a_week_later() -> None:
    assert hours(days=["monday"]).next_opening(at("2026-11-23T12:00")) == at("2026-11-30T07:00")


def test_a_delay_beyond_midnight_moves_the_days_of_a_cron_expression() -> None:
    late = hours(days=["saturday", "sunday"], to="23:50")
    assert late.cron(late.closes) == "50 23 * * 0,6"
    assert late.cron(late.closes, minutes_later=20) == "10 0 * * 0,1"


@pytest.mark.parametrize(
    ("given", "doubtful"),
    [
        ({"from": "02:30"}, ("02:30",)),
        ({"from": "01:59", "to": "03:00"}, ()),
        ({"from": "02:00", "to": "02:59"}, ("02:00", "02:59")),
        ({"from": "02:30", "timeZone": "UTC"}, ()),
        ({"from": "02:30", "timeZone": "Asia/Kolkata"}, ()),
        ({"from": "01:30", "timeZone": "America/New_York"}, ("01:30",)),
        ({"from": "02:30", "days": ["monday", "friday"]}, ()),  # the clocks change on a Sunday
    ],
)
def test_times_that_a_change_of_the_clocks_skips_or_repeats_are_known(given: dict[str, Any], doubtful: Any) -> None:
    assert hours(**{"days": ["saturday", "sunday"], **given}).doubtful_times == doubtful


@pytest.mark.parametrize(
    ("given", "is_taken"),
    [
        ({"from": "00:00", "to": "22:00"}, True),
        ({"from": "00:00", "to": "22:01"}, False),
        ({"from": "00:00", "to": "23:59", "days": ["monday", "wednesday"]}, True),
        ({"from": "00:00", "to": "23:59", "days": ["sunday", "monday"]}, False),
        ({"from": "01:59", "to": "23:59"}, True),
    ],
)
def test_a_night_lasts_two_hours_at_least(given: dict[str, Any], is_taken: bool) -> None:
    if is_taken:
        assert hours(**given)
        return
    with pytest.raises(ValueError, match="must be 22:00 or earlier: the hours begin again at 00:00 on the next day"):
        hours(**given)


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (["monday", "tuesday", "wednesday"], "monday to wednesday"),
        (["friday", "monday"], "monday, friday"),
        (["sunday"], "sunday"),
    ],
)
def test_hours_are_shown_with_days_times_and_zone(days: list[str], text: str) -> None:
    assert str(hours(days=days)) == f"{text} 08:00-19:00 Europe/Berlin"
