from dataclasses import replace
from pathlib import Path

import pytest

from tools.benchmarks.cases.rehearsal import SHARE, Pair, lines
from tools.benchmarks.pairs import Estimate
from tools.benchmarks.rehearsal_figures import Run
from tools.benchmarks.rehearsal_run import scenario_of, stack_of

SMALL = Run(
    nodes=100,
    pods=1_000,
    nodes_seconds=10,
    seconds=20,
    wall=20,
    own_cpu=2,
    servers_cpu=30,
    whole_wall=40,
    whole_own_cpu=6,
    whole_servers_cpu=54,
    own_peak=100_000_000,
    servers_peak=900_000_000,
    other_pods=430,
)
LARGE = replace(
    SMALL, nodes=1_000, pods=10_000, seconds=400, wall=400, own_cpu=40, servers_cpu=600, whole_wall=500,
    whole_own_cpu=125, whole_servers_cpu=1_125, own_peak=190_000_000, servers_peak=2_700_000_000,
    verdicts=0.5, page=1.0, json=2.0, page_bytes=3_000_000, json_bytes=40_000_000,
)  # fmt: skip


def faster(run: Run) -> Run:
    return replace(run, seconds=run.seconds / 2, own_cpu=1, whole_own_cpu=3, whole_wall=run.whole_wall / 2)


FOUND = {
    each.name: each
    for each in lines([Pair((faster(SMALL),), (SMALL,)), Pair((faster(LARGE),), (LARGE,))])
}  # fmt: skip


def median(name: str, value: str) -> float:
    found = FOUND[name].values[value]
    assert isinstance(found, Estimate)
    return found.median


def test_pods_a_second_are_compared_with_the_floor_of_the_same_size() -> None:
    assert median("100 nodes, 1,000 pods / floor", "pods/s over floor") == pytest.approx(0.5)
    assert FOUND["100 nodes, 1,000 pods / floor"].values["pods/s"] == "50 / 100"
    large = FOUND["1,000 nodes, 10,000 pods / floor"].values
    assert (large["pods/s"], large["control plane's CPU ms a pod"]) == ("25 / 50", "60 / 60")


def test_our_share_counts_the_whole_rehearsal_and_decides_about_the_aim() -> None:
    small, large = (FOUND[f"{size}, shares"] for size in ("100 nodes, 1,000 pods", "1,000 nodes, 10,000 pods"))
    assert median(small.name, SHARE.value) == pytest.approx(0.15)
    assert median(small.name, "while pods start") == pytest.approx(0.1)
    assert median(small.name, "ours of all CPU") == pytest.approx(0.1)
    assert (small.verdict, large.verdict) == ("met", "missed")


def test_growth_is_a_cost_of_one_pod_at_the_large_size_over_the_small_one() -> None:
    name = "1,000 nodes, 10,000 pods over 100 nodes, 1,000 pods"
    assert median(name, "pods/s") == pytest.approx(0.5)
    assert median(name, "our CPU a pod") == pytest.approx(2)
    assert median(name, "control plane's CPU a pod") == pytest.approx(2)
    assert FOUND[name].values["our KB for one more pod"] == "10"
    assert FOUND[name].values["control plane's KB for one more pod"] == "200"


def test_a_rehearsal_has_exactly_the_nodes_of_its_size_and_none_that_the_autoscaler_adds(tmp_path: Path) -> None:
    groups = stack_of(100, tmp_path).config.groups
    assert sum(group.size.min for group in groups) == 100
    assert not any(group.is_elastic for group in groups)


def test_all_pods_of_a_rehearsal_arrive_at_once_and_stay() -> None:
    scenario = scenario_of(1_000)
    assert [(each.count, each.every, each.stays) for each in scenario.arrivals] == [(1_000, None, None)]
    assert scenario.works["job"].runs_for is None
