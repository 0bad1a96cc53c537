from typing import Any

import pytest

from support.records import group, node, pod, record
from workbench.rehearsal.outcome import Cost
from workbench.rehearsal.record import PodRecord
from workbench.rehearsal.verdicts.costs import costs_of, share_of

WORK, SPOT = group("workload"), group("spot", lifecycle="spot", instance_type="m5.2xlarge")
GPU = group("gpu", role="gpu", gpus=4)


def owned(name: str, team: str, **facts: Any) -> PodRecord:
    return pod(name, team=team, **facts)


def test_costs_add_up_by_pool_and_lifecycle() -> None:
    facts = record(groups=[WORK, SPOT], nodes=[node("w", WORK), node("s", SPOT, created=1800)])
    costs = costs_of(facts, lambda _, lifecycle: 0.4 if lifecycle == "spot" else 1.0, prices="a list of May 2026")
    assert costs.total.node_hours == 1.5
    assert costs.total.usd == pytest.approx(1.2)
    assert costs.by_pool["spot"].usd == pytest.approx(0.2)
    assert costs.by_lifecycle["on-demand"].usd == 1.0
    assert costs.prices == "a list of May 2026"


def test_the_price_is_asked_by_type_and_lifecycle_once() -> None:
    asked: list[tuple[str, str]] = []
    facts = record(groups=[WORK, SPOT], nodes=[node("w", WORK), node("w2", WORK), node("s", SPOT)])

    def price(name: str, lifecycle: str) -> float:
        asked.append((name, lifecycle))
        return 1.0

    costs_of(facts, price)
    assert asked == [("m6i.2xlarge", "on-demand"), ("m5.2xlarge", "spot")]


def test_sums_leave_out_what_has_no_price_and_name_it() -> None:
    facts = record(groups=[WORK, SPOT], nodes=[node("w", WORK), node("s", SPOT)])
    costs = costs_of(facts, lambda name, _: None if name == "m5.2xlarge" else 1.0)
    assert costs.total == Cost(node_hours=2, usd=1.0, unpriced=("m5.2xlarge",))
    assert costs.by_pool["workload"] == Cost(node_hours=1, usd=1.0)
    assert costs.by_pool["spot"] == Cost(node_hours=1, usd=0.0, unpriced=("m5.2xlarge",))


def test_a_team_pays_for_what_its_pods_request_while_they_have_a_node() -> None:
    half = owned("a", "vision", on="w", lasts=1800, cpu_millis=3955)
    costs = costs_of(record([half], nodes=[node("w", WORK)]), lambda *_: 2.0)
    assert costs.by_team["vision"].node_hours == pytest.approx(0.25)
    assert costs.by_team["vision"].usd == pytest.approx(0.5)
    assert costs.by_team[""].usd == pytest.approx(1.5)


def test_the_larger_of_cpu_and_memory_is_a_pods_share_and_gpus_on_gpu_nodes() -> None:
    big = owned("a", "x", on="n", cpu_millis=791, memory_mib=14_500, gpus=1)
    assert share_of(big, node("n", WORK)) == pytest.approx(0.5)
    assert share_of(big, node("n", GPU)) == pytest.approx(0.25)


def test_shares_of_one_node_never_exceed_it() -> None:
    cpu = owned("a", "x", on="w", cpu_millis=7910, memory_mib=290)
    memory = owned("b", "y", on="w", cpu_millis=79, memory_mib=29_000)
    costs = costs_of(record([cpu, memory], nodes=[node("w", WORK)]), lambda *_: 1.0)
    assert costs.by_team["x"].usd == pytest.approx(0.5)
    assert costs.by_team["y"].usd == pytest.approx(0.5)
    assert costs.by_team[""].usd == pytest.approx(0.0)


def test_teams_and_the_rest_sum_up_to_the_total() -> None:
    pods = [owned(f"p{n}", f"t{n % 3}", on="w", created=100.0 * n, lasts=900.0, cpu_millis=1500) for n in range(12)]
    facts = record(pods, nodes=[node("w", WORK, created=-50, gone=3000)])
    costs = costs_of(facts, lambda *_: 3.0)
    assert sum(each.node_hours for each in costs.by_team.values()) == pytest.approx(costs.total.node_hours)
    assert sum(each.usd for each in costs.by_team.values()) == pytest.approx(costs.total.usd)


def test_pods_without_a_team_leave_their_share_to_nobody() -> None:
    costs = costs_of(record([pod("a", on="w")], nodes=[node("w", WORK)]), lambda *_: 1.0)
    assert set(costs.by_team) == {""}
    assert costs.by_team[""].usd == 1.0


def test_the_control_plane_s_fee_is_in_the_total_and_in_no_other_sum() -> None:
    facts = record(groups=[WORK], nodes=[node("w", WORK, gone=900)], lasts=1800)
    costs = costs_of(facts, lambda *_: 1.0, fee=0.1)
    assert costs.control_plane == pytest.approx(0.05)
    assert costs.total.usd == pytest.approx(0.3)
    for sums in (costs.by_pool, costs.by_lifecycle, costs.by_team):
        assert sum(each.usd for each in sums.values()) == pytest.approx(0.25)
