"""Each kind of change that hints lead to, found by a search on records that a test makes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.advice import GPUS, SOON, SPOT, advised, groups_of, stack, toy, values, workload
from support.records import POOLS, SPOT_TAINT, USER, node, pod, record, refusal, scenario, spec
from workbench.rehearsal.record import Happening, Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.verdicts.specs import untolerated
from workbench.stacks import Stack


def test_a_missing_gpu_pool_is_added_and_no_larger_than_needed(tmp_path: Path) -> None:
    advice, _ = advised(stack(tmp_path), scenario(SOON), toy(3, gpus=1, spec=GPUS, cpu_millis=1000))
    (edit,) = advice.edits
    assert advice.is_met
    assert edit.path == ("pools", "gpu")
    assert edit.value["role"] == "gpu"
    assert edit.value["size"] == {"min": 0, "max": 3}
    assert "+      gpu:\n+        role: gpu\n" in advice.patch


def test_a_larger_machine_type_is_chosen_for_a_larger_pod(tmp_path: Path) -> None:
    advice, _ = advised(stack(tmp_path), scenario(SOON), toy(1, cpu_millis=12_000))
    assert advice.is_met
    (types,) = values(advice).values()
    assert types[0] == "m6i.2xlarge"
    assert len(types) == 2


def test_nodes_are_kept_ready_for_a_bound_shorter_than_their_start(tmp_path: Path) -> None:
    advice, _ = advised(stack(tmp_path, workload(max=5)), scenario(SOON | {"time": "1m"}), toy(3))
    assert advice.is_met
    assert values(advice) == {"pools.workload.size.min": 3}


def test_a_minimum_that_is_too_expensive_is_lowered(tmp_path: Path) -> None:
    def idle(chosen: Stack, _: Scenario) -> Record:
        groups = groups_of(chosen)
        held = next(each for each in groups if each.name == "workload")
        return record(groups=groups, nodes=[node(f"w{index}", held) for index in range(held.min)])

    bound = {"expect": "at-most", "place": {"pool": "workload"}, "nodeHours": 2.5}
    advice, _ = advised(stack(tmp_path, workload(min=6, max=9)), scenario(bound), idle)
    assert advice.is_met
    assert values(advice) == {"pools.workload.size.min": 2}


def test_a_quota_is_raised_to_what_was_used_and_refused(tmp_path: Path) -> None:
    def play(chosen: Stack, _: Scenario) -> Record:
        quota = chosen.config.namespaces["mlrun"].quota
        assert quota
        groups = groups_of(chosen)
        here = node("w", groups[1])
        text = "exceeded quota: requests, requested: requests.cpu=4, used: requests.cpu=8, limited: requests.cpu="
        if int(quota.cpu) >= 16:
            return record([pod("a", on="w"), pod("b", on="w")], groups=groups, nodes=[here])
        refusals = [refusal(name, f"{text}{quota.cpu}") for name in "bc"]
        return record([pod("a", on="w")], groups=groups, nodes=[here], refusals=refusals)

    namespaces = {"mlrun": {"coreServices": True, "quota": {"cpu": "8", "memory": "64Gi"}}}
    advice, _ = advised(stack(tmp_path, namespaces=namespaces), scenario(SOON), play)
    assert values(advice) == {"namespaces.mlrun.quota.cpu": "16"}
    assert advice.is_met


def test_a_taint_that_the_work_does_not_tolerate_leads_to_its_toleration(tmp_path: Path) -> None:
    chosen = stack(tmp_path, {"spot": SPOT})

    def play(variant: Stack, played: Scenario) -> Record:
        selector = {**USER, "app.iguazio.com/lifecycle": "preemptible"}
        shape = spec(selector=selector, tolerations=played.works["train"].tolerations)
        groups = groups_of(variant)
        spot = next(each for each in groups if each.lifecycle == "spot")
        if untolerated(shape, spot):
            waits = pod("train-1", said=("0/3 nodes are available: 3 node(s) had untolerated taint(s).",), spec=shape)
            return record([waits], groups=groups)
        return record([pod("train-1", on="s", spec=shape)], groups=groups, nodes=[node("s", spot)])

    works = {"train": {"kind": "batch-job"}}
    advice, _ = advised(chosen, scenario(SOON, works=works), play)
    (tolerations,) = values(advice).values()
    assert advice.is_met
    assert "{key}={value}:{effect}".format(**tolerations[0]) == SPOT_TAINT


def test_the_spec_of_a_bare_pod_is_corrected_in_place(tmp_path: Path) -> None:
    def play(variant: Stack, played: Scenario) -> Record:
        given = played.works["train"].pod or {}
        groups = groups_of(variant)
        shape = spec(selector=given.get("nodeSelector"))
        wanted = (given.get("nodeSelector") or {}).get("igz-clusters.io/pool")
        if wanted not in {each.pool for each in groups}:
            waits = pod(
                "train-1", said=("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",)
            )
            return record([replace(waits, spec=shape)], groups=groups)
        return record([pod("train-1", on="w", spec=shape)], groups=groups, nodes=[node("w", groups[1])])

    container = {"name": "a", "image": "example.com/a:1"}
    bare = {"containers": [container], "nodeSelector": {"igz-clusters.io/pool": "worklaod"}}
    played = scenario(SOON, works={"train": {"kind": "pod", "pod": bare}})
    advice, _ = advised(stack(tmp_path), played, play)
    assert advice.is_met
    assert values(advice) == {"works.train.pod.nodeSelector": {"igz-clusters.io/pool": "workload"}}


def test_the_class_of_a_bare_pod_is_corrected_in_its_spec(tmp_path: Path) -> None:
    def play(_: Stack, played: Scenario) -> Record:
        name = (played.works["train"].pod or {})["priorityClassName"]
        if name == "igz-workload-high":
            return record([pod("train-1", on="w")], nodes=[node("w", workload_group)])
        return record(refusals=[refusal("train-1", f"no PriorityClass with name {name} was found")])

    workload_group = groups_of(stack(tmp_path))[1]
    bare = {"containers": [{"name": "a", "image": "example.com/a:1"}], "priorityClassName": "igz-workload-hihg"}
    advice, _ = advised(stack(tmp_path), scenario(SOON, works={"train": {"kind": "pod", "pod": bare}}), play)
    assert values(advice) == {"works.train.pod.priorityClassName": "igz-workload-high"}


@pytest.mark.parametrize(
    ("work", "key"),
    [
        ({"kind": "batch-job"}, "priority"),
        ({"kind": "pod", "pod": {"containers": [{"name": "a", "image": "example.com/a:1"}]}}, "pod.priorityClassName"),
    ],
)
def test_work_without_a_class_that_needs_one_gets_the_default(tmp_path: Path, work: dict[str, Any], key: str) -> None:
    def play(_: Stack, played: Scenario) -> Record:
        train = played.works["train"]
        if train.priority or (train.pod or {}).get("priorityClassName"):
            return record([pod("train-1", on="w")], nodes=[node("w", there)])
        return record(refusals=[refusal("train-1", "denied request: No class. Fix: Set one. [PR-05]")])

    there = groups_of(stack(tmp_path))[1]
    advice, _ = advised(stack(tmp_path), scenario(SOON, works={"train": work}), play)
    assert values(advice)[f"works.train.{key}"] == "igz-workload-medium"


@pytest.mark.parametrize("is_pool_refused", [False, True])
def test_refused_capacity_leads_to_another_type_or_pool(tmp_path: Path, is_pool_refused: bool) -> None:
    refusal = Happening(1.0, "capacity-refused", "no node of pool workload")

    def play(variant: Stack, _: Scenario) -> Record:
        pools = variant.config.pools
        helps = "workload2" in pools if is_pool_refused else len(pools["workload"].instance_types) > 1
        groups = groups_of(variant)
        if not helps:
            waits = pod("train-1", said=("pod didn't trigger scale-up: 1 in backoff after failed scale-up",))
            return record([waits], groups=groups, happenings=[refusal])
        return record([pod("train-1", on="w")], groups=groups, nodes=[node("w", groups[-1])])

    advice, _ = advised(stack(tmp_path), scenario(SOON), play)
    assert advice.is_met
    (edit,) = advice.edits
    assert edit.path == (("pools", "workload2") if is_pool_refused else ("pools", "workload", "instanceTypes"))
    types = edit.value["instanceTypes"] if is_pool_refused else edit.value[1:]
    assert types[0].endswith(".2xlarge")
    assert types != ["m6i.2xlarge"]


@pytest.mark.parametrize(
    ("selector", "name", "key", "value"),
    [
        ({"app.iguazio.com/lifecycle": "preemptible"}, "spot", "lifecycle", "spot"),
        ({"kubernetes.io/arch": "arm64"}, "arm", "instanceTypes", None),
        ({"igz-clusters.io/role": "jupyter"}, "jupyter", "role", "jupyter"),
    ],
)
def test_a_pool_that_is_missing_is_copied_from_the_nearest(
    tmp_path: Path, selector: dict[str, str], name: str, key: str, value: str | None
) -> None:
    shape = spec(selector={**USER, **selector})

    def play(variant: Stack, _: Scenario) -> Record:
        groups = groups_of(variant)
        if name not in variant.config.pools:
            said = ("0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector.",)
            return record([pod("train-1", said=said, spec=shape)], groups=groups)
        return record([pod("train-1", on="x", spec=shape)], groups=groups, nodes=[node("x", groups[-1])])

    source = {"workload": POOLS["workload"] | {"headroom": {"pods": 1, "cpu": "2", "memory": "8Gi"}}}
    advice, _ = advised(stack(tmp_path, source), scenario(SOON, works={"train": {"kind": "batch-job"}}), play)
    assert advice.is_met
    (edit,) = advice.edits
    assert edit.path == ("pools", name)
    assert "headroom" not in edit.value
    assert edit.value["size"] == {"min": 0, "max": 10}
    assert value is None or edit.value[key] == value


@pytest.mark.parametrize(
    ("scales", "edit"),
    [
        ({"min": 1, "max": 2}, {"works.train.scales.max": 5}),
        ({"min": 1, "max": 9, "cpuUtilization": 100}, {"works.train.scales.cpuUtilization": None}),
    ],
)
def test_replicas_may_follow_their_traffic_further(scales: Any, edit: dict[str, Any], tmp_path: Path) -> None:
    def served(chosen: Stack, played: Scenario) -> Record:
        found = played.works["train"].scales
        assert found
        groups = groups_of(chosen)
        here = node("w", groups[1])
        count = 1 if (found.cpu_utilization or 0) > 90 else min(found.max, 5)
        own = {"on": here.name, "unit": "train-0", "spec": spec(limits={"cpu": "1"})}
        return record([pod(f"p{index}", **own) for index in range(count)], groups=groups, nodes=[here])

    asked = scenario(
        {"expect": "keeps-up", "work": "train", "time": "5m"},
        works={"train": {"kind": "service", "scales": scales}},
        events=[{"event": "load", "work": "train", "at": "1m", "cpu": "4500m"}],
    )
    advice, _ = advised(stack(tmp_path), asked, served)
    assert advice.is_met
    assert values(advice) == edit
