import pytest

from support.records import pod, record, refusal, verdicts
from workbench.rehearsal.record import PodRecord
from workbench.rehearsal.verdicts.waits import percentile, wait_of

SOON = {"expect": "waits-at-most", "work": "train", "time": "5m"}


def test_pods_that_ran_in_time_meet_the_bound() -> None:
    (verdict,) = verdicts(record([pod("a", on="n", wait=60), pod("b", on="n", wait=180)]), SOON)
    assert verdict.is_met
    assert verdict.expectation == "train waits at most 5m"
    assert verdict.measured == "2 of 2 pods in time, longest wait 3m, 95th percentile 3m"
    assert verdict.may_vary == ""


def test_a_pod_that_still_waits_counts_with_what_it_waited() -> None:
    late, young = pod("late", created=0), pod("young", created=3500)
    (verdict,) = verdicts(record([late, young]), SOON)
    assert not verdict.is_met
    assert verdict.pods == ("late",)
    assert "1 of 2 pods in time" in verdict.measured
    assert "2 still waiting" in verdict.measured


def test_a_share_of_the_pods_may_be_late() -> None:
    pods = [pod(f"p{index}", on="n", wait=600 if index < 2 else 10, created=index * 60) for index in range(10)]
    strict, loose = verdicts(record(pods), SOON, SOON | {"percent": 80})
    assert not strict.is_met
    assert loose.is_met
    assert loose.expectation == "train waits at most 5m (80 % of its pods)"
    assert loose.pods == ()


def test_a_refused_unit_waits_forever() -> None:
    facts = record([pod("a", on="n")], refusals=[refusal("b", "exceeded")])
    (verdict,) = verdicts(facts, SOON)
    assert not verdict.is_met
    assert verdict.reason == "exceeded"
    assert "1 refused or never created" in verdict.measured


def test_the_longest_waits_are_named_first() -> None:
    pods = [pod("short", on="n", wait=400), pod("long", on="n", wait=900)]
    assert verdicts(record(pods), SOON)[0].pods == ("long", "short")


@pytest.mark.parametrize(("wait", "is_met"), [(290, True), (310, False)])
def test_a_wait_near_the_bound_may_vary(wait: int, is_met: bool) -> None:
    (verdict,) = verdicts(record([pod("a", on="n", wait=wait)]), SOON)
    assert verdict.is_met is is_met
    assert "within 1m of the bound" in verdict.may_vary


def test_waits_near_the_bound_do_not_matter_if_others_decide() -> None:
    pods = [pod("near", on="n", wait=290), pod("never", created=10)]
    assert "of the bound" not in verdicts(record(pods), SOON)[0].may_vary


def test_slower_speed_narrows_what_may_vary() -> None:
    facts = record([pod("a", on="n", wait=290)], speed=6.0)
    assert verdicts(facts, SOON)[0].may_vary == ""


def test_which_of_equal_pods_waits_may_vary() -> None:
    pods = [pod("a", on="n", wait=0), pod("b")]
    assert "which of the pods created at the same moment" in verdicts(record(pods), SOON)[0].may_vary


def test_work_that_never_arrived_did_not_run_in_time() -> None:
    (verdict,) = verdicts(record(), SOON)
    assert not verdict.is_met
    assert verdict.measured == "no pod arrived"


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([1.0, 2.0, 3.0, 100.0], 75) == 3.0
    assert percentile([5.0], 95) == 5.0
    assert percentile([float(value) for value in range(1, 101)], 95) == 95.0


@pytest.mark.parametrize(
    ("waited", "expected"),
    [
        (pod("a", created=10, on="n", wait=60), 60),
        (pod("a", created=10), 90),
        (pod("a", created=10, ended=40), 30),
        (pod("a", created=-5, ended=-9), 0),
    ],
)
def test_a_pod_waits_until_it_runs_ends_or_the_scenario_ends(waited: PodRecord, expected: float) -> None:
    assert wait_of(waited, 100) == expected
