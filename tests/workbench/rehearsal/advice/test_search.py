"""Search for advice, with records that a test makes in place of rehearsals."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from infra.config import CONFIG_KEY
from support.records import POOLS, SPOT_TAINT, USER, group, lost, node, pod, record, refusal, scenario, spec
from workbench.rehearsal.advice.advice import Advice
from workbench.rehearsal.advice.edits import Edit, UnfitError, scenario_with, stack_with
from workbench.rehearsal.advice.search import advise
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.record import GroupFacts, Happening, Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.verdicts.costs import costs_of
from workbench.rehearsal.verdicts.judge import judge
from workbench.rehearsal.verdicts.specs import untolerated
from workbench.stacks import Stack, read

Play = Callable[[Stack, Scenario], Record]
FULL = "pod didn't trigger scale-up: 1 max node group size reached"
SOON = {"expect": "waits-at-most", "work": "train", "time": "5m"}
SPOT = {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 3}, "instanceTypes": ["m5.2xlarge"]}
GPUS = spec(
    requests={"nvidia.com/gpu": "1"},
    limits={"nvidia.com/gpu": "1"},
    tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
)


def stack(folder: Path, pools: dict[str, Any] | None = None, **fields: Any) -> Stack:
    choices = {
        "schemaVersion": 1,
        "environment": "dev",
        "cluster": {"kind": "local"},
        "pools": POOLS | (pools or {}),
        "namespaces": {"mlrun": {"coreServices": True}},
    } | fields
    file = folder / "Pulumi.toy.yaml"
    file.write_text(yaml.safe_dump({"config": {CONFIG_KEY: choices}}, sort_keys=False))
    return read(file)


def groups_of(chosen: Stack) -> list[GroupFacts]:
    return [
        group(
            each.name,
            role=each.role.value,
            lifecycle=each.lifecycle.value,
            size=(each.size.min, each.size.max),
            pool=each.pool,
            taints=tuple(map(str, each.taints)),
            gpus=each.instances[0].gpus,
            gpu_resource=each.gpu_resource,
            cpu_millis=each.instances[0].vcpus * 990,
            instance_type=each.instances[0].name,
        )
        for each in chosen.config.groups
    ]


def toy(count: int, **facts: Any) -> Play:
    """Return a play of pods of which each takes a node: those without one wait, as the autoscaler would say."""

    def play(chosen: Stack, _: Scenario) -> Record:
        groups, pods, nodes = groups_of(chosen), [], []
        probe = pod("probe", **({"cpu_millis": 7000} | facts))
        free = [
            (each, number)
            for each in groups
            if each.role != "initial" and not untolerated(probe.spec, each) and each.gpus >= probe.gpus
            for number in range(each.max)
            if probe.cpu_millis <= each.cpu_millis and bool(each.gpus) == bool(probe.gpus)
        ]
        for index in range(count):
            own = {"cpu_millis": 7000} | facts
            if index < len(free):
                place, number = free[index]
                nodes.append(node(f"{place.name}-{number}", place, created=0 if number < place.min else 5))
                pods.append(pod(f"train-{index}", on=nodes[-1].name, wait=0 if number < place.min else 180, **own))
            else:
                pods.append(pod(f"train-{index}", said=(FULL,), **own))
        return record(pods, groups=groups, nodes=nodes)

    return play


def advised(chosen: Stack, played: Scenario, play: Play, budget: int = 20, **options: Any) -> tuple[Advice, list[Any]]:
    """Return the advice, and the choices of every variant that was rehearsed."""
    variants: list[Any] = []

    def rehearse(variant: Stack, changed: Scenario) -> Outcome:
        variants.append((variant.config, changed))
        return outcome(variant, changed, play)

    return advise(chosen, played, outcome(chosen, played, play), rehearse, budget, **options), variants


def outcome(chosen: Stack, played: Scenario, play: Play) -> Outcome:
    facts = play(chosen, played)
    costs = costs_of(facts, lambda *_: 1.0)
    verdicts = judge(played, facts, chosen.config, costs)
    return Outcome(stack=chosen.name, scenario="toy", description="", record=facts, verdicts=verdicts, costs=costs)


def values(advice: Advice) -> dict[str, Any]:
    return {".".join(map(str, edit.path)): edit.value for edit in advice.edits}


def workload(**size: int) -> dict[str, Any]:
    return {"workload": POOLS["workload"] | {"size": {"min": 0, "max": 2} | size}}


def test_the_maximum_is_raised_to_the_need_and_no_further(tmp_path: Path) -> None:
    advice, _ = advised(stack(tmp_path, workload()), scenario(SOON), toy(6))
    assert advice.is_met
    assert values(advice) == {"pools.workload.size.max": 6}
    assert advice.summary.startswith("All expectations are met with: pools.workload.size.max: 6 (")


def test_a_need_from_the_record_is_halved_down_to_the_least_that_is_enough(tmp_path: Path) -> None:
    advice, variants = advised(stack(tmp_path, workload()), scenario(SOON | {"percent": 40}), toy(20))
    assert values(advice) == {"pools.workload.size.max": 8}
    assert advice.rehearsals == len(variants) <= 6


def test_no_variant_is_rehearsed_twice_and_the_budget_holds(tmp_path: Path) -> None:
    for budget in range(7):
        advice, variants = advised(stack(tmp_path, workload()), scenario(SOON | {"percent": 40}), toy(20), budget)
        assert advice.rehearsals == len(variants) <= budget
        assert len({repr(variant) for variant in variants}) == len(variants)
        assert advice.is_met is (budget > 0)


def test_the_patch_makes_exactly_the_advised_stack_file(tmp_path: Path) -> None:
    chosen = stack(tmp_path, workload())
    advice, _ = advised(chosen, scenario(SOON), toy(6))
    assert "-          max: 2\n+          max: 6\n" in advice.patch
    assert advice.patch.startswith("diff --git a/Pulumi.toy.yaml b/Pulumi.toy.yaml\n--- a/Pulumi.toy.yaml\n")
    assert stack_with(chosen, advice.edits).config.pools["workload"].size.max == 6


def test_nothing_is_rehearsed_if_nothing_is_missed(tmp_path: Path) -> None:
    advice, variants = advised(stack(tmp_path, workload()), scenario(SOON), toy(1))
    assert (advice.edits, variants, advice.patch) == ((), [], "")
    assert advice.is_met
    assert "nothing to change" in advice.summary


def test_the_price_of_the_change_is_that_of_its_nodes(tmp_path: Path) -> None:
    advice, _ = advised(stack(tmp_path, workload()), scenario(SOON), toy(4))
    assert advice.usd == pytest.approx(2.0, abs=0.02)


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


def survives(chosen: Stack, played: Scenario) -> Record:
    """Lose the job that runs on spot nodes, unless its mode keeps it off them."""
    groups = groups_of(chosen)
    is_safe = played.works["train"].mode == "prevent"
    place = next(
        each for each in groups if each.lifecycle == ("on-demand" if is_safe else "spot") and each.role != "initial"
    )
    job = pod("train-1", on="n")
    nodes = [node("n", place, gone=None if is_safe else 600)]
    return record([job if is_safe else lost(job, 600)], groups=groups, nodes=nodes)


def test_the_mode_of_work_that_must_survive_is_changed_in_the_scenario(tmp_path: Path) -> None:
    file = tmp_path / "toy.yaml"
    file.write_text("works:\n  train:\n    kind: mlrun-job # bare\n    mode: allow\n")
    played = scenario({"expect": "survives", "work": "train"}, works={"train": {"kind": "mlrun-job", "mode": "allow"}})
    advice, _ = advised(stack(tmp_path, {"spot": SPOT}), played, survives, scenario_file=file)
    assert values(advice) == {"works.train.mode": "prevent"}
    assert "-    mode: allow\n+    mode: prevent\n" in advice.patch
    assert "of the scenario" in advice.summary


def test_without_the_scenario_s_file_the_change_is_said_instead_of_patched(tmp_path: Path) -> None:
    played = scenario({"expect": "survives", "work": "train"})
    advice, _ = advised(stack(tmp_path, {"spot": SPOT}), played, survives)
    assert advice.is_met
    assert advice.patch == ""
    assert "works.train.mode of the scenario: prevent" in advice.unpatched


def test_two_changes_are_combined_if_one_is_not_enough(tmp_path: Path) -> None:
    gpu = {"role": "gpu", "size": {"min": 0, "max": 1}, "instanceTypes": ["g5.2xlarge"]}

    def play(chosen: Stack, played: Scenario) -> Record:
        jobs = toy(4)(chosen, played)
        learn = toy(2, gpus=1, spec=GPUS, work="learn", cpu_millis=1000)(chosen, played)
        pods = (*jobs.pods, *learn.pods)
        return record(pods, groups=jobs.groups, nodes=[*jobs.nodes, *learn.nodes])

    works = {"train": {"kind": "mlrun-job"}, "learn": {"kind": "mlrun-job", "gpus": 1}}
    advice, _ = advised(
        stack(tmp_path, workload() | {"gpu": gpu}), scenario(SOON, SOON | {"work": "learn"}, works=works), play
    )
    assert advice.is_met
    assert values(advice) == {"pools.workload.size.max": 4, "pools.gpu.size.max": 2}


def test_the_best_that_was_found_is_said_if_not_all_can_be_met(tmp_path: Path) -> None:
    impossible = {"expect": "refused", "work": "train"}
    advice, _ = advised(stack(tmp_path, workload()), scenario(SOON, impossible), toy(4))
    assert not advice.is_met
    assert values(advice) == {"pools.workload.size.max": 4}
    assert advice.summary.startswith("The best change found meets 1 of 2 missed expectations")


def test_no_change_is_advised_if_none_helps(tmp_path: Path) -> None:
    def hopeless(chosen: Stack, _: Scenario) -> Record:
        return record([pod("train-1", said=(FULL,))], groups=groups_of(chosen))

    advice, variants = advised(stack(tmp_path, workload(max=1)), scenario(SOON), hopeless, 5)
    assert (advice.edits, advice.patch) == ((), "")
    assert advice.after is advice.before
    assert "No change was found" in advice.summary
    assert len(variants) <= 5


def test_what_the_stack_file_s_own_checks_refuse_is_not_rehearsed(tmp_path: Path) -> None:
    def play(chosen: Stack, _: Scenario) -> Record:
        core = [
            pod(f"core-{index}", kind="core-service", cpu_millis=7000, spec=spec(selector={})) for index in range(60)
        ]
        return record(core, groups=groups_of(chosen)[:1])

    advice, variants = advised(stack(tmp_path), scenario(SOON, works={"train": {"kind": "core-service"}}), play)
    assert variants == []
    assert any("at most 50 nodes" in each for each in advice.refused)


def test_an_edit_of_a_work_keeps_its_other_fields() -> None:
    played = scenario(
        {"expect": "completes", "work": "train"},
        works={"train": {"kind": "mlrun-job", "runsFor": "20m", "cpu": "2", "nodeSelector": {"a": "b"}}},
    )
    work = scenario_with(played, [Edit(("works", "train", "nodeSelector"), None, file="scenario")]).works["train"]
    assert (work.runs_for, work.cpu, work.node_selector) == (1200, "2", {})
    with pytest.raises(UnfitError, match="mode"):
        scenario_with(played, [Edit(("works", "train", "mode"), "sometimes", file="scenario")])


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


def test_a_change_with_which_the_scenario_no_longer_applies_is_no_success(tmp_path: Path) -> None:
    chosen, played = stack(tmp_path, workload()), scenario(SOON)
    skipped = Outcome(stack="toy", scenario="toy", description="", skipped="It needs a pool of spot nodes.")
    advice = advise(chosen, played, outcome(chosen, played, toy(4)), lambda *_: skipped, 9)
    assert not advice.is_met
    assert advice.edits == ()
    assert any("no longer applies. It needs a pool of spot nodes." in each for each in advice.refused)


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

    advice, _ = advised(stack(tmp_path), scenario(SOON, works={"train": {"kind": "batch-job"}}), play)
    assert advice.is_met
    (edit,) = advice.edits
    assert edit.path == ("pools", name)
    assert edit.value["size"] == {"min": 0, "max": 10}
    assert value is None or edit.value[key] == value
