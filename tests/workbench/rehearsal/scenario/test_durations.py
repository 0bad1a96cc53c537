import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.rehearsal.scenario.durations import LONGEST, duration_text, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0s", 0), ("90s", 90), ("5m", 300), ("2h", 7200), ("1h30m", 5400), ("1d2h3m4s", 93_784), ("31d", LONGEST)],
)
def test_a_duration_is_read_in_seconds(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@given(st.integers(0, LONGEST))
def test_a_duration_is_written_as_it_is_read(seconds: int) -> None:
    assert parse_duration(duration_text(seconds)) == seconds


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (89.6, "1m30s"), (3600, "1h"), (90_061, "1d1h1m1s")])
def test_a_duration_is_written_in_the_largest_units(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


@pytest.mark.parametrize("given", [5, "5", 0])
def test_a_number_without_a_unit_is_answered_with_units(given: object) -> None:
    with pytest.raises(ValueError, match=f"^needs a unit, such as {given}s or {given}m$"):
        parse_duration(given)


@pytest.mark.parametrize(
    "given",
    [None, True, 1.5, -5, 10**50, "", "m", "5 m", "5M", "1m1h", "-5m", "5m ", "\N{FULLWIDTH DIGIT FIVE}m", "1.5h"],
)
def test_what_is_no_duration_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match=r"^must be a duration such as 90s, 5m or 1h30m"):
        parse_duration(given)


@pytest.mark.parametrize("given", ["31d1s", "999999999d"])
def test_nothing_lasts_longer_than_a_month(given: str) -> None:
    with pytest.raises(ValueError, match=r"^must not be longer than 31d$"):
        parse_duration(given)
