from dataclasses import replace
from typing import Any

from support.records import lost, pod, record, refusal, verdicts
from workbench.rehearsal.record import PodEnd

COMPLETES = {"expect": "completes", "work": "train"}
SURVIVES = {"expect": "survives", "work": "train"}
RESTARTED = {"expect": "restarted", "work": "train", "time": "5m"}
REFUSED = {"expect": "refused", "work": "train"}


def works(kind: str, **fields: Any) -> dict[str, Any]:
    return {"train": {"kind": kind} | fields}


def test_units_whose_pods_succeeded_complete() -> None:
    (verdict,) = verdicts(record([pod("a", on="n", lasts=60), pod("b", on="n", lasts=90)]), COMPLETES)
    assert verdict.is_met
    assert verdict.measured == "2 of 2 units completed"


def test_units_that_run_wait_fail_or_were_refused_do_not_complete() -> None:
    failed = replace(pod("c", on="n", lasts=60), end=PodEnd.FAILED)
    facts = record([pod("a", on="n"), pod("b"), failed], refusals=[refusal("d", "no")])
    (verdict,) = verdicts(facts, COMPLETES)
    assert verdict.measured == (
        "0 of 4 units completed; pods of the others: 1 runs, 1 waits, 1 failed; 1 unit refused or never created"
    )
    assert verdict.reason == "no"


def test_a_share_of_units_is_enough_if_the_scenario_says_so() -> None:
    pods = [pod("a", on="n", lasts=60), pod("b")]
    assert verdicts(record(pods), COMPLETES | {"percent": 50})[0].is_met
    assert not verdicts(record(pods), COMPLETES | {"percent": 51})[0].is_met


def test_a_lost_pod_whose_replacement_succeeded_completes() -> None:
    first = lost(pod("a-1", on="n", unit="a"), 100)
    second = pod("a-2", on="n", unit="a", created=110, lasts=60, replaces=first.uid)
    assert verdicts(record([first, second]), COMPLETES, works=works("batch-job"))[0].is_met


def test_a_pod_of_the_unit_that_is_older_than_the_loss_does_not_stand_for_the_lost_one() -> None:
    parts = [
        pod(f"a-{part}", on="n", unit="a", created=at, lasts=600) for part, at in (("scheduler", 0), ("worker-1", 9))
    ]
    worker = lost(pod("a-worker-0", on="m", unit="a", created=6), 60)
    works_ = works("dask", workers=2)
    (verdict,) = verdicts(record([*parts, worker]), COMPLETES, works=works_)
    assert not verdict.is_met
    assert verdict.pods == ("a-worker-0",)
    assert not verdicts(record([*parts, worker]), RESTARTED, works=works_)[0].is_met
    again = pod("a-worker-2", on="n", unit="a", created=60, lasts=600)
    assert verdicts(record([*parts, worker, again]), COMPLETES, works=works_)[0].is_met


def test_a_lost_bare_pod_never_completes() -> None:
    (verdict,) = verdicts(record([lost(pod("a", on="n"), 100)]), COMPLETES)
    assert not verdict.is_met
    assert verdict.reason == "spot-reclaim of node n"


def test_a_spark_application_completes_with_its_driver() -> None:
    driver = pod("a-driver", on="n", unit="a", lasts=600)
    executor = lost(pod("a-exec-1", on="n", unit="a"), 300)
    assert verdicts(record([driver, executor]), COMPLETES, works=works("spark"))[0].is_met


def test_a_pipeline_completes_only_with_all_its_steps() -> None:
    steps = [pod(f"a-{index}", on="n", unit="a", created=index * 100, lasts=60) for index in range(2)]
    assert verdicts(record(steps), COMPLETES, works=works("pipeline", workers=2))[0].is_met
    assert not verdicts(record(steps), COMPLETES, works=works("pipeline", workers=3))[0].is_met


def test_an_end_close_to_that_of_the_scenario_may_vary() -> None:
    facts = record([pod("a", on="n", wait=100, lasts=3490)])
    assert "about when the scenario ends" in verdicts(facts, COMPLETES)[0].may_vary


def test_work_survives_if_no_pod_is_lost_or_preempted() -> None:
    ended = pod("a", on="n", lasts=60)
    gone = lost(pod("b", on="n"), 60)
    out = lost(pod("c", on="n"), 60, "preemption", PodEnd.PREEMPTED)
    assert verdicts(record([ended]), SURVIVES)[0].is_met
    (verdict,) = verdicts(record([ended, gone, out]), SURVIVES)
    assert verdict.pods == ("b", "c")
    assert verdict.measured.startswith("2 of 3 pods lost; 1 by spot-reclaim of node n")


def test_a_loss_to_the_autoscaler_that_decides_may_vary() -> None:
    moved = lost(pod("a-1", on="n", unit="a"), 60, "autoscaler")
    heir = pod("a-2", on="m", unit="a", created=60, wait=10, replaces=moved.uid)
    survives, restarted = verdicts(record([moved, heir]), SURVIVES, RESTARTED)
    assert not survives.is_met
    assert restarted.is_met
    assert "whether the autoscaler moves pods" in survives.may_vary
    assert "whether the autoscaler moves pods" in restarted.may_vary


def test_a_loss_to_the_autoscaler_beside_another_decides_nothing() -> None:
    moved, taken = lost(pod("a", on="n"), 60, "autoscaler"), lost(pod("b", on="m"), 60)
    assert verdicts(record([moved, taken]), SURVIVES)[0].may_vary == ""
    again = lost(pod("a-2", on="m", unit="a", created=60, replaces=moved.uid), 90)
    assert verdicts(record([moved, again]), SURVIVES)[0].may_vary == ""


def test_refused_and_absent_work_did_not_survive() -> None:
    assert not verdicts(record([pod("a", on="n")], refusals=[refusal("b", "no")]), SURVIVES)[0].is_met
    assert not verdicts(record(), SURVIVES)[0].is_met


def test_a_loss_with_a_replacement_in_time_is_a_restart() -> None:
    first = lost(pod("a-1", on="n", unit="a"), 1000)
    second = pod("a-2", on="m", unit="a", created=1000, wait=120)
    (verdict,) = verdicts(record([first, second]), RESTARTED)
    assert verdict.is_met
    assert verdict.measured == "1 of 1 lost pod restarted in time; longest time to restart 2m"


def test_a_replacement_that_comes_late_or_waits_is_no_restart() -> None:
    first = lost(pod("a-1", on="n", unit="a"), 1000)
    late = pod("a-2", on="m", unit="a", created=1000, wait=400)
    waits = pod("a-2", unit="a", created=1000)
    for second in (late, waits):
        (verdict,) = verdicts(record([first, second]), RESTARTED)
        assert not verdict.is_met
        assert verdict.pods == ("a-1",)


def test_one_replacement_stands_for_one_loss_only() -> None:
    losses = [lost(pod(f"a-{index}", on="n", unit="a"), 1000) for index in range(2)]
    heir = pod("a-9", on="m", unit="a", created=1001, wait=10)
    (verdict,) = verdicts(record([*losses, heir]), RESTARTED)
    assert not verdict.is_met
    assert verdict.measured.startswith("1 of 2 lost pods restarted")


def test_a_pod_that_ran_beside_the_lost_one_replaces_nothing() -> None:
    first = lost(pod("a-1", on="n", unit="a"), 1000)
    beside = pod("a-2", on="m", unit="a", wait=10)
    assert not verdicts(record([first, beside]), RESTARTED)[0].is_met


def test_a_scenario_without_a_loss_shows_no_restart() -> None:
    (verdict,) = verdicts(record([pod("a", on="n")]), RESTARTED)
    assert not verdict.is_met
    assert verdict.measured == "no pod was lost"
    assert verdict.hints[0].path == "events"


def test_a_loss_just_before_the_end_says_that_time_was_short() -> None:
    (verdict,) = verdicts(record([lost(pod("a", on="n"), 3500)]), RESTARTED)
    assert "the scenario ends before the time of 1 is up" in verdict.measured


def test_work_is_refused_if_every_unit_is_and_for_the_named_reason() -> None:
    facts = record(refusals=[refusal("a", "rule [HG-01]"), refusal("b", "rule [HG-01]")])
    assert all(verdict.is_met for verdict in verdicts(facts, REFUSED, REFUSED | {"because": "HG-01"}))
    (other,) = verdicts(facts, REFUSED | {"because": "PL-02"})
    assert other.measured == "0 of 2 units refused because of PL-02; 2 refused for another reason"


def test_one_admitted_unit_misses_a_refusal() -> None:
    facts = record([pod("b", on="n")], refusals=[refusal("a", "no")])
    (verdict,) = verdicts(facts, REFUSED)
    assert not verdict.is_met
    assert verdict.pods == ("b",)
    assert verdict.measured == "1 of 2 units refused; 1 admitted"


def test_work_that_never_arrived_was_not_refused() -> None:
    assert not verdicts(record(), REFUSED)[0].is_met


def test_a_gang_that_does_not_complete_names_the_workers_that_its_launcher_waits_for() -> None:
    launcher = replace(pod("a-launcher", on="n", unit="a"), started=None, end=PodEnd.WAITS)
    workers = [pod("a-worker-0", on="n", unit="a"), pod("a-worker-1", unit="a", said=["1 Insufficient cpu."])]
    (verdict,) = verdicts(record([launcher, *workers]), COMPLETES, works=works("mpi", workers=2))
    assert verdict.pods == ("a-worker-1", "a-launcher", "a-worker-0")
    assert verdict.reason == "scheduler: 1 Insufficient cpu."


def test_a_gang_that_failed_names_the_worker_that_it_lost() -> None:
    launcher = replace(pod("a-launcher", on="m", unit="a", lasts=300), end=PodEnd.FAILED)
    (verdict,) = verdicts(
        record([launcher, lost(pod("a-worker-0", on="n", unit="a"), 300)]), COMPLETES, works=works("mpi")
    )
    assert verdict.pods == ("a-launcher", "a-worker-0")
    assert verdict.reason == "spot-reclaim of node n"
