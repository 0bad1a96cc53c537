import pytest

from support.records import pod, record, refusal, verdicts
from workbench.rehearsal.record import PodEnd, PodRecord
from workbench.rehearsal.verdicts.waits import percentile, wait_of

SOON = {"expect": "waits-at-most", "work": "train", "time": "5m"}


def test_pods_that_ran_in_time_meet_the_bound() -> None:
    (verdict,) = verdicts(record([pod("a", on="n", wait=60), pod("b", on="n", wait=180)]), SOON)
    assert verdict.is_met
    assert verdict.expectation == "train waits at most 5m"
    assert verdict.measured == "2 of 2 pods in time, longest wait 3m, 95th percentile 3m"
    assert verdict.may_vary == ""


def test_a_pod_that_waits_longer_than_the_bound_is_late_and_one_that_waits_shorter_is_left_out() -> None:
    ran, late, young = pod("ran", on="n", created=60), pod("late", created=0), pod("young", created=3500)
    (verdict,) = verdicts(record([ran, late, young]), SOON)
    assert not verdict.is_met
    assert verdict.pods == ("late",)
    assert "1 of 2 pods in time" in verdict.measured
    assert "2 still waiting at the end; 1 left out: too little time to judge" in verdict.measured
    assert verdicts(record([ran, young]), SOON)[0].is_met


def test_if_all_pods_are_left_out_the_bound_is_not_met() -> None:
    (verdict,) = verdicts(record([pod("young", created=3500, said=["0/1 nodes are available"])]), SOON)
    assert not verdict.is_met
    assert verdict.measured.startswith("0 of 0 pods in time")
    assert "1 left out" in verdict.measured
    assert (verdict.pods, verdict.reason) == (("young",), "scheduler: 0/1 nodes are available")


def test_a_pod_that_was_deleted_before_it_ran_is_late_however_short_its_wait() -> None:
    gone = [pod(f"p{index}", ended=200, end=PodEnd.DELETED) for index in range(3)]
    (verdict,) = verdicts(record(gone), SOON)
    assert not verdict.is_met
    assert verdict.pods == ("p0", "p1", "p2")
    assert verdict.measured.startswith("0 of 3 pods in time")


def test_a_pod_that_was_deleted_sooner_than_it_can_start_at_this_speed_is_left_out() -> None:
    pods = [pod("ran", on="n", wait=10), pod("brief", ended=20, end=PodEnd.DELETED)]
    (verdict,) = verdicts(record(pods), SOON)
    assert verdict.is_met
    assert "1 of 1 pod in time" in verdict.measured
    assert "1 left out" in verdict.measured
    assert not verdicts(record(pods, speed=10.0), SOON)[0].is_met


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


def test_each_refused_replica_counts_in_the_share() -> None:
    pods = [pod(f"a-{index}", on="n", unit="a", wait=10) for index in range(4)]
    facts = record(pods, refusals=[refusal("a", "exceeded quota", missing=8)])
    (verdict,) = verdicts(facts, SOON | {"percent": 80})
    assert not verdict.is_met
    assert verdict.measured.startswith("4 of 12 pods in time")
    assert verdict.reason == "exceeded quota"


def test_a_unit_that_never_arrived_lacks_all_its_pods() -> None:
    facts = record([pod("a", on="n")], units={"train": ("a", "b")})
    (verdict,) = verdicts(facts, SOON, works={"train": {"kind": "dask", "workers": 3}})
    assert "1 of 5 pods in time" in verdict.measured
    assert "4 refused or never created" in verdict.measured


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


NEVER = {"expect": "never-runs", "work": "train"}
FULL = ["0/2 nodes are available: 2 Insufficient cpu."]


def test_work_never_runs_if_all_its_pods_wait_for_the_named_reason() -> None:
    facts = record([pod("a", said=FULL), pod("b", said=FULL, ended=200, end=PodEnd.DELETED)])
    anyhow, because, other = verdicts(
        facts, NEVER, NEVER | {"because": "Insufficient"}, NEVER | {"because": "affinity"}
    )
    assert (anyhow.is_met, because.is_met) == (True, True)
    assert because.expectation == "train never runs because of Insufficient"
    assert (other.is_met, other.pods, other.reason) == (False, ("a", "b"), f"scheduler: {FULL[0]}")
    assert other.measured == "0 of 2 pods ran; of 2 that waited, another reason was said or none"


def test_work_that_ran_was_refused_or_never_came_does_not_wait() -> None:
    (ran,) = verdicts(record([pod("a", on="n"), pod("b")]), NEVER)
    assert (ran.is_met, ran.measured, ran.pods) == (False, "1 of 2 pods ran", ("a",))
    (refused,) = verdicts(record([pod("a")], refusals=[refusal("b", "no")]), NEVER)
    assert (refused.is_met, refused.reason) == (False, "no")
    assert not verdicts(record(), NEVER)[0].is_met
