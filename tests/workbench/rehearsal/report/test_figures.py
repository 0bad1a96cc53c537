from dataclasses import replace

import pytest

from support import outcomes
from workbench.rehearsal.outcome import Cost, deciding
from workbench.rehearsal.report import figures
from workbench.rehearsal.verdicts.waits import wait_of


def test_pods_that_never_ran_come_before_those_that_waited_long() -> None:
    record = outcomes.record()
    names = [each.name for each in figures.pending(record)]
    assert names[:3] == ["train-11-worker", "train-12-worker", "train-13-worker"]
    assert all(wait_of(each, record.lasts) > 300 for each in figures.pending(record))


def test_a_hint_explains_the_pods_of_its_work_only() -> None:
    night = outcomes.night()
    assert night.record is not None
    explained = {
        each.work: verdict.expectation
        for each in night.record.pods
        if (verdict := figures.explanation(each, night)) is not None
    }
    assert explained == {"train": "train waits at most 40m", "notebook": "notebook survives"}


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        (None, "-"),
        (Cost(node_hours=1, usd=0, unpriced=("x",)), "-"),
        (Cost(node_hours=1, usd=1234.5), "1,234.50"),
        (Cost(node_hours=1, usd=2, unpriced=("x",)), "at least 2.00"),
    ],
)
def test_money_says_when_a_price_is_missing(cost: Cost | None, shown: str) -> None:
    assert figures.money(cost) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0s"), (130, "2m10s"), (599.4, "9m59s"), (5994, "1h40m"), (-60, "-1m")]
)
def test_durations_show_seconds_below_ten_minutes(seconds: float, shown: str) -> None:
    assert figures.lasting(seconds) == shown


def test_the_headline_counts_only_what_was_played() -> None:
    night = outcomes.night()
    assert figures.headline([night, outcomes.skipped()]) == "2 of 9 expectations missed"
    assert figures.headline([outcomes.calm()]) == "All 8 expectations met"
    assert figures.headline([replace(night, verdicts=night.verdicts[:1])]) == "The expectation is met"
    assert figures.headline([outcomes.skipped()]) == "Skipped: no scenario applies"


def test_a_reference_decides_only_if_it_is_lost() -> None:
    calm, night, lost = (
        outcomes.calm(),
        *(replace(each, is_reference=True) for each in (outcomes.night(), outcomes.lost())),
    )
    assert deciding([night, calm]) == (calm,)
    assert deciding([lost, calm]) == (lost, calm)


def test_the_headline_begins_with_scenarios_that_have_no_verdict() -> None:
    lost, night = outcomes.lost(), outcomes.night()
    one = "1 scenario without a verdict"
    assert figures.headline([night, lost, outcomes.skipped()]) == f"{one}, 2 of 9 other expectations missed"
    assert figures.headline([outcomes.calm(), lost]) == f"{one}, 0 of 8 other expectations missed"
    assert figures.headline([lost, outcomes.skipped()]) == one
