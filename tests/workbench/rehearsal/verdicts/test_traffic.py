"""Verdicts on traffic: pods keep up with it if their CPU limits suffice, and hints say what to change if not."""

from typing import Any

from support.records import hints, pod, record, spec, verdicts
from workbench.rehearsal.record import PodEnd, PodRecord, Record

KEEPS_UP = {"expect": "keeps-up", "work": "model", "time": "10m"}
MODEL: dict[str, Any] = {"kind": "service", "scales": {"min": 1, "max": 3}}
ONE_CORE = spec(limits={"cpu": "1"})


def replica(name: str, *, created: float = 0.0, wait: float = 0.0, unit: str = "model-0", **facts: Any) -> PodRecord:
    return pod(name, "model", on="n", unit=unit, kind="service", created=created, wait=wait,
               **{"spec": ONE_CORE} | facts)  # fmt: skip


def load(at: str, cpu: str) -> dict[str, Any]:
    return {"event": "load", "work": "model", "at": at, "cpu": cpu}


def judged(facts: Record, *loads: dict[str, Any], **fields: Any) -> Any:
    (verdict,) = verdicts(facts, KEEPS_UP, **{"works": {"model": MODEL}, "events": [*loads]} | fields)
    return verdict


def test_pods_whose_limits_suffice_keep_up() -> None:
    verdict = judged(record([replica("a"), replica("b")]), load("5m", "2"))
    assert verdict.is_met
    assert verdict.expectation == "model keeps up with its traffic within 10m"
    assert verdict.measured == "never short of CPU"
    assert verdict.may_vary == ""


def test_a_shortage_ends_when_another_pod_runs() -> None:
    facts = record([replica("a"), replica("b", created=400, wait=380)])
    verdict = judged(facts, load("5m", "1500m"))
    assert verdict.is_met
    assert verdict.measured == ("model-0 short of CPU for 8m: its traffic needed 1.5 CPU, 1 running pod could use 1")


def test_a_shortage_longer_than_the_time_is_missed_and_names_the_pods_that_waited() -> None:
    facts = record([replica("a"), replica("b", created=400, wait=1000)])
    verdict = judged(facts, load("5m", "1500m"))
    assert not verdict.is_met
    assert verdict.pods == ("b",)
    assert "18m20s" in verdict.measured


def test_a_shortage_begins_when_a_pod_is_lost_and_ends_with_the_traffic() -> None:
    gone = replica("a", ended=1200.0, end=PodEnd.LOST)
    verdict = judged(record([gone, replica("b")]), load("5m", "2"), load("28m", "500m"))
    assert verdict.is_met
    assert "short of CPU for 8m:" in verdict.measured


def test_a_shortage_near_the_bound_may_vary() -> None:
    verdict = judged(record([replica("a"), replica("b", created=300, wait=630)]), load("5m", "1500m"))
    assert not verdict.is_met
    assert verdict.may_vary == "a shortage ends within 1m of the bound"


def test_a_pod_without_a_limit_takes_any_traffic() -> None:
    assert judged(record([replica("a", spec=spec())]), load("5m", "50")).measured == "never short of CPU"


def test_each_unit_has_its_own_traffic_until_it_leaves() -> None:
    facts = record([replica("a", ended=900.0, end=PodEnd.DELETED), replica("b", unit="model-1", created=60)])
    arrivals = [{"work": "model", "stays": "15m"}, {"work": "model", "at": "1m"}]
    assert judged(facts, load("5m", "1"), arrivals=arrivals).measured == "never short of CPU"
    stays = [{"work": "model"}, {"work": "model", "at": "1m"}]
    assert judged(facts, load("5m", "1"), arrivals=stays).measured.startswith("model-0 short of CPU for 45m")


def test_work_without_a_pod_does_not_keep_up() -> None:
    verdict = judged(record([pod("other")]), load("5m", "1"))
    assert not verdict.is_met
    assert verdict.measured == "no pod arrived"


def hinted(facts: Record, cpu: str, **work: Any) -> dict[str, str]:
    return hints(facts, KEEPS_UP, works={"model": MODEL | work}, events=[load("5m", cpu)])


def test_a_maximum_of_replicas_that_is_too_small_is_named_with_the_right_one() -> None:
    facts = record([replica("a"), replica("b"), replica("c", created=400)])
    (path, cause), *_ = hinted(facts, "4.5").items()
    assert path == "works.model.scales.max"
    assert cause == "model-0 had its maximum of 3 replicas; its traffic needed 4.5 CPU, and a pod can use 1."
    (verdict,) = verdicts(facts, KEEPS_UP, works={"model": MODEL}, events=[load("5m", "4.5")])
    assert verdict.hints[0].action == "Raise scales.max to at least 5."


def test_replicas_that_are_allowed_and_come_late_are_not_blamed_on_the_maximum() -> None:
    facts = record([replica("a"), replica("b", created=1500)])
    assert list(hinted(facts, "1500m")) == ["works.model.scales.min"]


def test_a_target_that_pods_at_their_limit_never_exceed_is_named() -> None:
    facts = record([replica("a")])
    found = hinted(facts, "1500m", scales={"min": 1, "max": 3, "cpuUtilization": 95})
    assert list(found) == ["works.model.scales.cpuUtilization"]
    assert "at most 100 % of its request" in found["works.model.scales.cpuUtilization"]
