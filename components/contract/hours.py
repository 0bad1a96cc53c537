"""Office hours: when a pool keeps its minimum size, or when a whole development cluster has nodes.

Schedules in the cloud apply the hours; this package does not run for that. The hours are also computed here, to
distinguish a cluster that is stopped on schedule from one that failed.
"""

import re
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Annotated, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator
from typing_extensions import override

from components.contract.choices import ContractModel, Explained, Findings
from components.contract.pool_size import NODES_MAX, PoolSize

CLOCK_CHANGES_OF: Final = 2026
"""Year whose changes to and from daylight saving time are used as an example of every year."""

NIGHT_MIN: Final = 2 * 60
"""Minimum length of a night in minutes.

A cluster's groups stop within 35 minutes (``eks.hours``), and Azure requires half an hour between stop and start:
https://learn.microsoft.com/azure/aks/start-stop-cluster.
"""

_DAY_MINUTES: Final = 24 * 60
_ZONE: Final = r"UTC|[A-Z]\w+(/[A-Z0-9][\w+-]*)+"
_CLOCK: Final = r"([01]\d|2[0-3]):[0-5]\d"


class Weekday(StrEnum):
    """A day of the week, in the order of ``datetime.weekday``."""

    MONDAY = "monday"
    TUESDAY = "tuesday"
    WEDNESDAY = "wednesday"
    THURSDAY = "thursday"
    FRIDAY = "friday"
    SATURDAY = "saturday"
    SUNDAY = "sunday"


WEEKDAYS: Final = tuple(Weekday)
WORKING_DAYS: Final = WEEKDAYS[:5]


def _as_text(given: object) -> object:
    if type(given) is int:  # YAML 1.1 reads 19:00 as a number of base 60
        raise ValueError("must be text: put the time in quotes, such as '19:00'")
    return given


def _clock(text: str) -> str:
    if not re.fullmatch(_CLOCK, text, re.ASCII):
        raise ValueError("must be a 24-hour time with two digits each, such as '08:00'")
    return text


def _zone(name: str) -> str:
    try:
        known = re.fullmatch(_ZONE, name, re.ASCII) and ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        known = None
    if not known:
        raise ValueError("is not a time zone of the IANA database; use one such as Europe/Berlin or UTC")
    return name


def _differing(days: tuple[Weekday, ...]) -> tuple[Weekday, ...]:
    if len(set(days)) < len(days):
        raise ValueError("lists a day twice; remove one")
    return days


def _minutes(clock: str) -> int:
    """Return the minutes from midnight to a time."""
    hour, minute = map(int, clock.split(":"))
    return hour * 60 + minute


def _next(day: Weekday) -> Weekday:
    return WEEKDAYS[(WEEKDAYS.index(day) + 1) % len(WEEKDAYS)]


Clock = Annotated[
    str, BeforeValidator(_as_text), AfterValidator(_clock), Field(json_schema_extra={"pattern": f"^{_CLOCK}$"})
]


class OfficeHours(ContractModel):
    """The same hours on some days of every week."""

    days: Annotated[
        tuple[Weekday, ...],
        AfterValidator(_differing),
        Explained("The working days of most countries."),
    ] = Field(WORKING_DAYS, min_length=1, description="Days with office hours.", examples=[["monday", "friday"]])
    opens: Clock = Field(alias="from", description="Local time at which they begin, in quotes.", examples=["08:00"])
    closes: Clock = Field(alias="to", description="Local time of the same day at which they end.", examples=["19:00"])
    time_zone: Annotated[
        Annotated[str, AfterValidator(_zone)],
        Explained(decides="The clock, with its changes between summer and winter time."),
    ] = Field(description="Time zone of the IANA database.", examples=["Europe/Berlin"])

    @field_validator("closes", mode="after")
    @classmethod
    def _after_it_opens(cls, closes: str, info: ValidationInfo) -> str:
        opens, days = info.data.get("opens"), info.data.get("days", ())
        if opens and closes <= opens:
            raise ValueError(f"must be later than from, {opens}, on the same day")
        latest = _minutes(opens) + _DAY_MINUTES - NIGHT_MIN if opens else _DAY_MINUTES
        if _minutes(closes) > latest and any(_next(day) in days for day in days):
            raise ValueError(
                f"must be {latest // 60:02}:{latest % 60:02} or earlier: the hours begin again at {opens} on the next "
                f"day, and a night lasts at least {NIGHT_MIN // 60} hours"
            )
        return closes

    def is_open(self, now: datetime) -> bool:
        """Return whether a moment, with a time zone, is within the hours."""
        local = now.astimezone(ZoneInfo(self.time_zone))
        return WEEKDAYS[local.weekday()] in self.days and self.opens <= f"{local:%H:%M}" < self.closes

    def is_open_between(self, start: datetime, end: datetime) -> bool:
        """Return whether it is open from ``start``, a moment with a time zone, until just before ``end``."""
        zone, last = ZoneInfo(self.time_zone), end - timedelta(minutes=1)
        is_one_day = start.astimezone(zone).date() == last.astimezone(zone).date()
        return is_one_day and self.is_open(start) and self.is_open(last)

    def next_opening(self, now: datetime) -> datetime:
        """Return the first moment after ``now`` at which the hours begin, in their own time zone."""
        local = now.astimezone(ZoneInfo(self.time_zone))
        hour, minute = map(int, self.opens.split(":"))
        days = (local + timedelta(days=days) for days in range(len(WEEKDAYS) + 1))
        openings = (day.replace(hour=hour, minute=minute, second=0, microsecond=0) for day in days)
        return next(each for each in openings if each > local and WEEKDAYS[each.weekday()] in self.days)

    def cron(self, text: str, *, minutes_later: int = 0) -> str:
        """Return a time of the open days, such as ``opens``, as a cron expression of five fields.

        Parameters
        ----------
        minutes_later
            Delay, which may reach into the next day.
        """
        days_later, rest = divmod(_minutes(text) + minutes_later, _DAY_MINUTES)
        # Cron counts from Sunday, 0.
        days = sorted((WEEKDAYS.index(day) + 1 + days_later) % len(WEEKDAYS) for day in self.days)
        return f"{rest % 60} {rest // 60} * * {','.join(map(str, days))}"

    @property
    def doubtful_times(self) -> tuple[str, ...]:
        """Times that a change to or from daylight saving time skips or repeats on one of its days."""
        zone, first = ZoneInfo(self.time_zone), date(CLOCK_CHANGES_OF, 1, 1)
        year = (first + timedelta(days=number) for number in range(365))
        days = [day for day in year if WEEKDAYS[day.weekday()] in self.days]

        def is_doubtful(text: str) -> bool:
            local = (datetime.combine(day, time.fromisoformat(text), zone) for day in days)
            return any(each.utcoffset() != each.replace(fold=1).utcoffset() for each in local)

        return tuple(filter(is_doubtful, (self.opens, self.closes)))

    @override
    def __str__(self) -> str:
        """Return the hours as readable text."""
        days = [day for day in WEEKDAYS if day in self.days]
        first, last = WEEKDAYS.index(days[0]), WEEKDAYS.index(days[-1])
        together = len(days) > 2 and last - first + 1 == len(days)  # noqa: PLR2004 two days are shorter listed
        shown = f"{days[0]} to {days[-1]}" if together else ", ".join(days)
        return f"{shown} {self.opens}-{self.closes} {self.time_zone}"


class PoolHours(OfficeHours):
    """Office hours of a pool: outside them its minimum is lower."""

    night_min: Annotated[int, Explained("An idle pool then costs nothing at night.")] = Field(
        0, ge=0, le=NODES_MAX, strict=True, description="Minimum number of nodes outside the hours.", examples=[1]
    )

    def require_effect(self, size: PoolSize) -> None:
        """Refuse hours that would change nothing.

        Raises
        ------
        ValueError
            The pool has a fixed size, or its minimum is not above ``nightMin``.
        """
        if not size.is_elastic:
            raise ValueError(f"has no effect in a pool of fixed size ({size}); make size.min differ from size.max")
        findings = Findings()
        if size.min == 0:
            findings.add("has no effect: with size.min 0 an idle pool has no nodes at any hour; remove it")
        elif self.night_min >= size.min:
            findings.add(f"must be below size.min, {size.min}", "nightMin", given=self.night_min)
        findings.raise_if_any()
