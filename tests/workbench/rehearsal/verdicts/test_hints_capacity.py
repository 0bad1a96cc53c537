"""Mistakes of sizes and machines, losses, waits and nodes that stay."""

from dataclasses import replace
from typing import Any

import pytest

from support.records import POOLS, SPOT_TAINT, USER, config, group, hints, lost, node, pod, record, spec, verdicts
from support.shipped_stacks import shipped
from workbench.rehearsal.record import Happening, PodEnd

SOON = {"expect": "waits-at-most", "work": "train", "time": "5m"}
SURVIVES = {"expect": "survives", "work": "train"}
FULL = ("0/2 nodes are available: 2 Insufficient cpu.", "pod didn't trigger scale-up: 1 max node group size reached")
UNFIT = ("0/2 nodes are available: 2 Insufficient cpu.", "pod didn't trigger scale-up: 1 Insufficient cpu")
WORK = group(size=(0, 2))
SPOT = group("spot", lifecycle="spot", taints=(SPOT_TAINT,))
TAKEN = node("s", SPOT, gone=600, gone_cause="spot-reclaim")


def waiting(
    *groups: Any, said: tuple[str, ...] = UNFIT, nodes: Any = (), works: Any = None, **facts: Any
) -> dict[str, str]:
    stuck = pod("train-1", said=said, **facts)
    return hints(record([stuck], groups=groups or [WORK], nodes=nodes), SOON, **({"works": works} if works else {}))


def test_a_pool_whose_maximum_was_enough_is_not_blamed_for_waits() -> None:
    nodes = [node(f"w{index}", WORK, created=900) for index in range(2)]
    said = ("0/2 nodes are available: 2 Insufficient cpu.", "pod triggered scale-up: [{workload 0->2 (max: 2)}]")
    late = [pod(f"r{index}", on=f"w{index}", wait=900, said=said, cpu_millis=7000) for index in range(2)]
    assert "pools.workload.size.max" not in hints(record(late, groups=[WORK], nodes=nodes), SOON)


def test_a_maximum_that_is_too_small_is_named_with_the_need() -> None:
    nodes = [node(f"w{index}", WORK) for index in range(2)]
    pods = [pod(f"r{index}", on=f"w{index}", cpu_millis=7000) for index in range(2)]
    stuck = [pod(f"s{index}", said=FULL, cpu_millis=7000) for index in range(3)]
    found = hints(record([*pods, *stuck], groups=[WORK], nodes=nodes), SOON)
    assert "reached its maximum of 2 nodes" in found["pools.workload.size.max"]
    assert "about 5" in found["pools.workload.size.max"]


def test_a_pool_of_fixed_size_is_named() -> None:
    fixed = group(size=(1, 1))
    found = waiting(fixed, said=(FULL[0],), nodes=[node("w", fixed)], cpu_millis=7000)
    assert "has a fixed size of 1 node," in found["pools.workload.size.max"]


def test_a_pool_below_its_maximum_is_not_blamed() -> None:
    assert "pools.workload.size.max" not in waiting(WORK, said=UNFIT, nodes=[node("w", WORK)])


def test_a_pod_larger_than_any_machine_is_named_by_cpu_and_memory() -> None:
    cpu = waiting(cpu_millis=16_000)["pools.workload.instanceTypes"]
    assert "requests 16000m cpu, and a node of the largest pool it may use, workload (m6i.2xlarge)" in cpu
    assert "reserved" not in cpu
    memory = waiting(memory_mib=65_536)["pools.workload.instanceTypes"]
    assert "requests 65536 MiB memory" in memory


def test_a_pod_that_fits_a_machine_only_without_the_system_s_share_is_named() -> None:
    assert "allocates 7910m after what is reserved for the system (of 8000m)" in waiting(cpu_millis=8000)[
        "pools.workload.instanceTypes"
    ]  # fmt: skip


def test_daemon_sets_that_take_the_room_are_named() -> None:
    agent = pod("agent", "", on="w", kind="daemon-set", cpu_millis=500, memory_mib=500)
    stuck = pod("train-1", said=UNFIT, cpu_millis=7600)
    found = hints(record([agent, stuck], groups=[WORK], nodes=[node("w", WORK)]), SOON)
    assert "DaemonSets leave 7410m" in found["pools.workload.instanceTypes"]


def test_too_many_pods_on_a_node_are_named() -> None:
    found = waiting(said=("0/1 nodes are available: 1 Too many pods.",), nodes=[node("w", WORK)])
    assert "already run as many pods as they may" in found["pools.workload.size.max"]


def test_core_services_larger_than_the_initial_group_are_named() -> None:
    initial = group("initial", role="initial", size=(2, 2))
    core = [pod(f"core-{index}", "", kind="core-service", cpu_millis=4000, said=FULL[:1]) for index in range(3)]
    found = hints(record(core, groups=[initial]), {"expect": "core-services-unmoved"})
    assert "3 pods of core services, such as core-0, wait" in found["pools.initial.size.max"]


def test_core_services_that_wait_are_not_blamed_for_the_wait_of_others() -> None:
    initial = group("initial", role="initial", size=(2, 2))
    core = pod("core-0", "", kind="core-service", cpu_millis=4000, said=FULL[:1])
    full = [node(f"w{index}", WORK) for index in range(2)]
    stuck = pod("train-1", said=FULL, cpu_millis=7000)
    found = hints(record([core, stuck], groups=[initial, WORK], nodes=full), SOON)
    assert [*found] == ["pools.workload.size.max"]


REFUSED = {"event": "capacity-refused", "at": "1m", "lasts": "30m"}
HAPPENED = [Happening(60, "capacity-refused", "no new node of its place")]
BACKOFF = "pod didn't trigger scale-up: 1 in backoff after failed scale-up"


@pytest.mark.parametrize("events", [[REFUSED | {"place": {"pool": "workload"}}], []])
def test_refused_capacity_of_a_single_type_is_named(events: list[Any]) -> None:
    found = hints(record([pod("train-1", said=(BACKOFF,))], groups=[WORK]), SOON, events=events)
    assert "which has the single machine type m6i.2xlarge" in found["pools.workload.instanceTypes"]


def test_a_full_pool_is_not_blamed_on_the_cloud_that_refuses_nodes_of_another() -> None:
    events = [REFUSED | {"place": {"lifecycle": "spot"}}]
    stuck = pod("train-1", said=FULL, cpu_millis=7000)
    nodes = [node(f"w{index}", WORK) for index in range(2)]
    found = hints(record([stuck], groups=[SPOT, WORK], nodes=nodes, happenings=HAPPENED), SOON, events=events)
    assert [*found] == ["pools.workload.size.max"]


def test_of_the_pools_that_fit_only_those_in_the_place_of_the_event_are_refused() -> None:
    events = [REFUSED | {"place": {"lifecycle": "spot"}}]
    either = spec(tolerations=[{"key": "app.iguazio.com/lifecycle", "operator": "Exists"}])
    said = (FULL[0], f"{BACKOFF}, 1 max node group size reached")
    nodes = [node(f"w{index}", WORK) for index in range(2)]
    pools = {"spot": POOLS["workload"] | {"lifecycle": "spot"}}
    facts = record(
        [pod("train-1", said=said, cpu_millis=7000, spec=either)], groups=[WORK, SPOT], nodes=nodes, happenings=HAPPENED
    )
    found = hints(facts, SOON, events=events, config=config(pools))
    assert [*found][:2] == ["pools.spot.instanceTypes", "pools.workload.size.max"]
    assert "pools.workload.instanceTypes" not in found


def test_a_pod_that_waits_after_the_event_is_not_blamed_on_it() -> None:
    stuck = pod("train-1", created=2400, said=FULL)
    events = [REFUSED | {"place": {"pool": "workload"}}]
    found = hints(record([stuck], groups=[WORK], nodes=[node("w", WORK)], happenings=HAPPENED), SOON, events=events)
    assert "pools.workload.instanceTypes" not in found


def test_an_mpi_gang_larger_than_its_pool_is_named() -> None:
    gpu = group("gpu", role="gpu", size=(0, 1))
    asks = spec(
        requests={"nvidia.com/gpu": "1"},
        limits={"nvidia.com/gpu": "1"},
        tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
    )
    first = pod("t-worker-0", on="g", unit="t", gpus=1, spec=asks)
    second = pod(
        "t-worker-1", unit="t", gpus=1, spec=asks, said=("pod didn't trigger scale-up: 1 max node group size reached",)
    )
    works = {"train": {"kind": "mpi", "workers": 2, "gpus": 1}}
    found = hints(record([first, second], groups=[gpu], nodes=[node("g", gpu)]), SOON, works=works)
    assert "about 2" in found["pools.gpu.size.max"]
    assert "The 2 workers of train must run at the same time" in found["works.train.workers"]


def test_limits_beyond_the_node_are_named_since_memory_pressure_is_not_simulated() -> None:
    greedy = spec(requests={"memory": "2Gi"}, limits={"memory": "16Gi"})
    pods = [pod(f"p{index}", on="w", spec=greedy) for index in range(3)]
    gone = replace(pods[0], end=PodEnd.FAILED, ended=60.0)
    found = hints(
        record([gone, *pods[1:]], groups=[WORK], nodes=[node("w", WORK)]), {"expect": "completes", "work": "train"}
    )
    assert "their limits allow 49152 MiB of 29000 MiB" in found["works.train.memory"]
    assert "does not simulate memory pressure" in found["works.train.memory"]


def test_a_short_bound_on_a_pool_that_starts_from_zero_is_named() -> None:
    late = pod("train-1", on="w", wait=400)
    fresh = node("w", WORK, created=60, ready=180)
    found = hints(record([late], groups=[WORK], nodes=[fresh]), SOON)
    assert "waited 6m40s, of which its new node took 2m to start" in found["pools.workload.size.min"]


@pytest.mark.parametrize(("stack", "is_advised"), [("local", True), ("aks-dev", False)])
def test_headroom_is_advised_only_where_a_stack_may_have_it(stack: str, *, is_advised: bool) -> None:
    nodes = [node("w", WORK, created=60, ready=180)]
    facts = record([pod("train-1", on="w", wait=400)], groups=[WORK], nodes=nodes)
    (verdict,) = verdicts(facts, SOON, config=shipped(stack))
    (advice,) = (hint.action for hint in verdict.hints if hint.path == "pools.workload.size.min")
    assert ("keep headroom" in advice) is is_advised


def test_low_priority_starved_by_high_is_named() -> None:
    low = pod("train-1", said=FULL, spec=spec(priorityClassName="igz-workload-low"))
    high = pod("urgent-1", "urgent", on="w", created=60, wait=30, spec=spec(priorityClassName="igz-workload-high"))
    works = {"train": {"kind": "mlrun-job"}, "urgent": {"kind": "mlrun-job"}}
    found = hints(record([low, high], groups=[WORK], nodes=[node("w", WORK)]), SOON, works=works)
    assert "waited while 1 later pod of higher priority, such as urgent-1" in found["works.train.priority"]


def test_work_lost_on_spot_that_must_survive_is_named() -> None:
    facts = record([lost(pod("train-1", on="s"), 600)], groups=[SPOT], nodes=[TAKEN])
    found = hints(facts, SURVIVES)
    assert "ran on spot nodes of pool spot" in found["works.train.mode"]
    assert found["pools.spot.lifecycle"].startswith("Pool spot")
    assert "have no controller" in found["works.train.kind"]


@pytest.mark.parametrize("cause", ["autoscaler", "rolling-upgrade", "node-failure"])
def test_a_spot_node_that_the_cloud_did_not_take_back_is_not_blamed(cause: str) -> None:
    nodes = [node("s", SPOT, gone=600, gone_cause=cause)]
    found = hints(record([lost(pod("train-1", on="s"), 600, cause)], groups=[SPOT], nodes=nodes), SURVIVES)
    assert {"works.train.mode", "pools.spot.lifecycle"}.isdisjoint(found)
    assert ("pools.spot.size.min" in found) == (cause == "autoscaler")


def test_steps_of_a_pipeline_have_no_mode_and_so_select_nodes() -> None:
    facts = record([lost(pod("train-1", on="s"), 600)], groups=[SPOT], nodes=[TAKEN])
    found = hints(facts, SURVIVES, works={"train": {"kind": "pipeline"}})
    assert "ran on spot nodes of pool spot" in found["works.train.nodeSelector"]


def test_a_notebook_on_spot_is_named() -> None:
    tolerant = spec(selector={**USER, "app.iguazio.com/lifecycle": "preemptible"})
    facts = record([lost(pod("n-1", on="s", spec=tolerant), 600)], groups=[SPOT], nodes=[TAKEN])
    found = hints(facts, SURVIVES, works={"train": {"kind": "notebook"}})
    assert "keeps its state in memory" in found["works.train.nodeSelector"]


def test_lost_bare_jobs_that_do_not_restart_are_named() -> None:
    facts = record(
        [lost(pod("train-1", on="w"), 600, "node-failure")], groups=[WORK], nodes=[node("w", WORK, gone=600)]
    )
    found = hints(facts, {"expect": "restarted", "work": "train", "time": "5m"})
    assert "Pods of train (mlrun-job) have no controller" in found["works.train.kind"]


def test_a_node_that_the_autoscaler_removed_is_named() -> None:
    gone = lost(pod("train-1", on="w"), 600, "autoscaler")
    nodes = [node("w", WORK, gone=600, gone_cause="autoscaler")]
    found = hints(record([gone], groups=[WORK], nodes=nodes), SURVIVES, works={"train": {"kind": "service"}})
    assert "The autoscaler removed node w" in found["pools.workload.size.min"]


def test_preemption_is_named() -> None:
    out = lost(pod("train-1", on="w"), 600, "preemption by db", PodEnd.PREEMPTED)
    found = hints(record([out], groups=[WORK], nodes=[node("w", WORK)]), SURVIVES)
    assert "evicted for a pod of higher priority" in found["works.train.priority"]


def test_bare_pods_and_notebooks_that_hold_nodes_are_named() -> None:
    nodes = [node("w", WORK, created=60)]
    again = {"expect": "minimum-again"}
    bare = hints(record([pod("train-1", on="w")], groups=[WORK], nodes=nodes), again)
    assert "Bare pods of train still run" in bare["works.train.runsFor"]
    works = {"train": {"kind": "notebook"}}
    held = hints(record([pod("train-1", on="w")], groups=[WORK], nodes=nodes), again, works=works)
    assert 'safe-to-evict: "false"' in held["works.train.runsFor"]
    works = {"train": {"kind": "service"}}
    served = hints(record([pod("train-1", on="w")], groups=[WORK], nodes=nodes), again, works=works)
    assert "Pods of train still run there" in served["arrivals"]


def test_empty_nodes_that_stay_ask_for_a_longer_scenario() -> None:
    found = hints(record(groups=[WORK], nodes=[node("w", WORK, created=60)]), {"expect": "minimum-again"})
    assert "had not removed them when the scenario ended" in found["lasts"]


def test_idle_nodes_of_the_minimum_that_exceed_a_budget_are_named() -> None:
    held = group(size=(3, 5))
    nodes = [node(f"w{index}", held) for index in range(3)]
    found = hints(record([pod("a", on="w0")], groups=[held], nodes=nodes), {"expect": "at-most", "nodeHours": 1})
    assert "keeps 3 nodes; 2 of its nodes ran no work of the scenario and took 2.0 node-hours" in found[
        "pools.workload.size.min"
    ]  # fmt: skip


def test_no_hint_blames_a_stack_for_what_is_met() -> None:
    facts = record([pod("a", on="w", wait=10)], groups=[WORK], nodes=[node("w", WORK)])
    assert verdicts(facts, SOON, config=config())[0].hints == ()


def test_own_machines_are_named_by_their_key_and_without_a_machine_type_to_buy() -> None:
    own = group(instance_type="32cpu-128gib")
    cause = waiting(own, cpu_millis=16_000)["pools.workload.machine"]
    assert "workload (32cpu-128gib)" in cause
