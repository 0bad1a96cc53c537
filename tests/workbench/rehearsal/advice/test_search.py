"""Search for advice, with records that a test makes in place of rehearsals."""

from pathlib import Path

import pytest

from support.advice import FULL, GPUS, SOON, SPOT, advised, groups_of, outcome, stack, toy, values, workload
from support.records import lost, node, pod, record, scenario, spec
from workbench.rehearsal.advice.edits import Edit, UnfitError, scenario_with, stack_with
from workbench.rehearsal.advice.search import advise
from workbench.rehearsal.cluster.simulated import LostError
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.record import Record
from workbench.rehearsal.scenario.model import Scenario
from workbench.stacks import Stack
from workbench.system.errors import UserError


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


def survives(chosen: Stack, played: Scenario) -> Record:
    """Lose the job that runs on spot nodes, unless its mode keeps it off them or there are none."""
    groups = groups_of(chosen)
    is_safe = played.works["train"].mode == "prevent" or all(each.lifecycle != "spot" for each in groups)
    place = next(
        each for each in groups if each.lifecycle == ("on-demand" if is_safe else "spot") and each.role != "initial"
    )
    job = pod("train-1", on="n")
    if is_safe:
        return record([job], groups=groups, nodes=[node("n", place)])
    reclaimed = node("n", place, gone=600, gone_cause="spot-reclaim")
    return record([lost(job, 600)], groups=groups, nodes=[reclaimed])


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
    assert advice.unpatched == "works.train.mode of the scenario: prevent: change it by hand"


def test_the_stack_file_s_part_of_a_patch_stays_if_the_scenario_s_cannot_be_written(tmp_path: Path) -> None:
    def play(chosen: Stack, played: Scenario) -> Record:
        learn = toy(2, gpus=1, spec=GPUS, work="learn", cpu_millis=1000)(chosen, played)
        train = survives(chosen, played)
        return record((*learn.pods, *train.pods), groups=learn.groups, nodes=[*learn.nodes, *train.nodes])

    works = {"train": {"kind": "mlrun-job", "mode": "allow"}, "learn": {"kind": "mlrun-job", "gpus": 1}}
    gpu = {"role": "gpu", "size": {"min": 0, "max": 1}, "instanceTypes": ["g5.2xlarge"]}
    played = scenario(SOON | {"work": "learn"}, {"expect": "survives", "work": "train"}, works=works)
    advice, _ = advised(stack(tmp_path, {"gpu": gpu, "spot": SPOT}), played, play, how_to_edit="copy it")
    assert values(advice) == {"pools.gpu.size.max": 2, "works.train.mode": "prevent"}
    assert "-          max: 1\n+          max: 2\n" in advice.patch
    assert advice.unpatched == "works.train.mode of the scenario: prevent: copy it"


def two_needs(folder: Path) -> tuple[Stack, Scenario]:
    """Return a stack whose two pools are both too small for a scenario."""
    gpu = {"role": "gpu", "size": {"min": 0, "max": 1}, "instanceTypes": ["g5.2xlarge"]}
    works = {"train": {"kind": "mlrun-job"}, "learn": {"kind": "mlrun-job", "gpus": 1}}
    return stack(folder, workload() | {"gpu": gpu}), scenario(SOON, SOON | {"work": "learn"}, works=works)


def both(chosen: Stack, played: Scenario) -> Record:
    jobs = toy(4)(chosen, played)
    learn = toy(2, gpus=1, spec=GPUS, work="learn", cpu_millis=1000)(chosen, played)
    pods = (*jobs.pods, *learn.pods)
    return record(pods, groups=jobs.groups, nodes=[*jobs.nodes, *learn.nodes])


def test_two_changes_are_combined_if_one_is_not_enough(tmp_path: Path) -> None:
    advice, _ = advised(*two_needs(tmp_path), both)
    assert advice.is_met
    assert values(advice) == {"pools.workload.size.max": 4, "pools.gpu.size.max": 2}


def test_the_best_that_was_found_is_said_if_not_all_can_be_met(tmp_path: Path) -> None:
    impossible = {"expect": "refused", "work": "train"}
    advice, _ = advised(stack(tmp_path, workload()), scenario(SOON, impossible), toy(4))
    assert not advice.is_met
    assert values(advice) == {"pools.workload.size.max": 4}
    assert advice.summary.startswith("The best change found meets 1 of 2 missed expectations")


@pytest.mark.parametrize("failure", [LostError("etcd has ended.\nits log"), UserError("It does not start.", "Wait.")])
def test_the_best_change_found_before_a_control_plane_failed_is_kept(tmp_path: Path, failure: Exception) -> None:
    advice, variants = advised(
        stack(tmp_path, workload()), scenario(SOON | {"percent": 40}), toy(20), failure=failure, good=1
    )
    assert len(variants) == advice.rehearsals == 2
    assert advice.is_met
    assert list(values(advice)) == ["pools.workload.size.max"]
    assert "max:" in advice.patch
    assert advice.ended == str(failure)
    first = str(failure).split("\n", maxsplit=1)[0]
    assert advice.summary.endswith(f"(2 of at most 20 rehearsals). The search ended early: {first}")


def test_a_control_plane_that_fails_at_once_leaves_no_change_and_says_so(tmp_path: Path) -> None:
    advice, variants = advised(
        stack(tmp_path, workload()), scenario(SOON), toy(6), failure=LostError("etcd has ended.")
    )
    assert len(variants) == 1
    assert (advice.edits, advice.patch, advice.is_met) == ((), "", False)
    assert advice.summary == (
        "No change was found that meets more expectations (1 of at most 20 rehearsals). "
        "The search ended early: etcd has ended."
    )


def test_a_change_that_met_something_is_kept_if_the_search_for_the_rest_fails(tmp_path: Path) -> None:
    advice, _ = advised(*two_needs(tmp_path), both, failure=LostError("etcd has ended."), good=1)
    assert values(advice) == {"pools.workload.size.max": 4}
    assert "meets 1 of 2 missed expectations" in advice.summary
    assert "The search ended early: etcd has ended." in advice.summary


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
    work = scenario_with(played, [Edit(("works", "train", "nodeSelector"), None)]).works["train"]
    assert (work.runs_for, work.cpu, work.node_selector) == (1200, "2", {})
    with pytest.raises(UnfitError, match="mode"):
        scenario_with(played, [Edit(("works", "train", "mode"), "sometimes")])


def test_a_change_with_which_the_scenario_no_longer_applies_is_no_success(tmp_path: Path) -> None:
    chosen, played = stack(tmp_path, workload()), scenario(SOON)
    skipped = Outcome(stack="toy", scenario="toy", description="", skipped="It needs a pool of spot nodes.")
    advice = advise(chosen, played, outcome(chosen, played, toy(4)), lambda *_: skipped, 9)
    assert not advice.is_met
    assert advice.edits == ()
    assert any("no longer applies. It needs a pool of spot nodes." in each for each in advice.refused)
