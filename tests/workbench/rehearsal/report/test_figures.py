from dataclasses import replace

import pytest

from support import outcomes
from workbench.rehearsal.outcome import Cost
from workbench.rehearsal.record import NodeRecord, PodRecord, Record
from workbench.rehearsal.report import figures


def node(name: str, created: float, gone: float | None) -> NodeRecord:
    return NodeRecord(name=name, group="g", pool="p", role="workload", lifecycle="spot", created=created, gone=gone)


def pod(created: float, started: float | None = None, ended: float | None = None) -> PodRecord:
    return PodRecord(
        name="x", namespace="n", uid="u", work="w", unit="u", created=created, started=started, ended=ended
    )


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([], 0),
        ([(-10, None), (5, 20), (20, None)], 2),  # one goes as another comes
        ([(-10, 0)], 0),  # gone before the scenario
        ([(1, 3), (2, 4), (2, 5)], 3),
    ],
)
def test_the_peak_counts_nodes_that_exist_at_the_same_time(
    spans: list[tuple[float, float | None]], expected: int
) -> None:
    assert figures.peak(node(f"n-{index}", *span) for index, span in enumerate(spans)) == expected


@pytest.mark.parametrize(
    ("waited", "expected"), [(pod(10, 70), 60), (pod(10), 90), (pod(10, None, 40), 30), (pod(-5, -9), 0)]
)
def test_a_pod_waits_until_it_runs_ends_or_the_scenario_ends(waited: PodRecord, expected: float) -> None:
    assert figures.wait(waited, Record(lasts=100, speed=60, groups=())) == expected


@pytest.mark.parametrize(("percent", "expected"), [(50, 10), (95, 19), (100, 20), (1, 1)])
def test_a_percentile_is_a_value_that_was_measured(percent: float, expected: float) -> None:
    assert figures.percentile([float(each) for each in range(20, 0, -1)], percent) == expected


def test_pods_that_never_ran_come_before_those_that_waited_long() -> None:
    record = outcomes.record()
    names = [each.name for each in figures.pending(record)]
    assert names[:3] == ["train-11-worker", "train-12-worker", "train-13-worker"]
    assert all(figures.wait(each, record) > 300 for each in figures.pending(record))


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
        (Cost(node_hours=1, usd=None), "-"),
        (Cost(node_hours=1, usd=1234.5), "1,234.50"),
        (Cost(node_hours=1, usd=2, unpriced=("x",)), "2.00 +"),
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
