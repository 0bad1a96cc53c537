import io
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from click.testing import Result
from rich.console import Console
from typer.testing import CliRunner

from support.advice import SOON, outcome, toy
from support.outcomes import calm, night
from support.replays import life, lines, pod
from support.stack_files import VALID
from workbench import stacks
from workbench.cli import rehearse as command
from workbench.cli.app import app
from workbench.cli.rehearsal_progress import watching
from workbench.rehearsal.cluster.simulated import LostError
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.rehearse import Played, Rehearser, Task, rehearse_all
from workbench.rehearsal.scenario.files import shipped
from workbench.rehearsal.settings import Scaler
from workbench.system.errors import UserError

WORK = """\
      work:
        role: workload
        size: { min: 0, max: 2 }
        instanceTypes: [m6i.2xlarge]
"""
SCENARIO = """\
description: One job
lasts: 10m
works:
  job: { kind: mlrun-job, runsFor: 2m }
arrivals: [{ work: job }]
expectations: [{ expect: completes, work: job }]
"""
SIX = f"""\
description: Six at once
lasts: 10m
works: {{ train: {{ kind: mlrun-job }} }}
arrivals: [{{ work: train }}]
expectations: [{json.dumps(SOON)}]
"""


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout with two local stacks and a scenario."""
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    for name in ("good", "other"):
        (tmp_path / f"Pulumi.{name}.yaml").write_text(VALID + WORK)
    (tmp_path / "Pulumi.fixed.yaml").write_text(VALID + WORK.replace("min: 0", "min: 2"))
    (tmp_path / "Pulumi.bad.yaml").write_text((VALID + WORK).replace("max: 2", "max: many"))
    (tmp_path / "job.yaml").write_text(SCENARIO)
    event = "{ event: node-failure, at: 1m, place: { pool: no } }"
    (tmp_path / "lost.yaml").write_text(f"{SCENARIO}events: [{event}]\n")
    return tmp_path


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """The tasks that the command plays; each ends like the sample."""
    tasks: list[Task] = []

    def play(asked: list[Task], _: Rehearser, *, at_once: int) -> Played:
        tasks.extend(asked)
        return tuple((task, outcome_of(task)) for task in asked)

    monkeypatch.setattr(command, "ensure", lambda **_: object())
    monkeypatch.setattr(command, "rehearse_all", play)
    return tasks


def outcome_of(task: Task) -> Outcome:
    return replace(night(task.shown_as), scenario=task.name, is_reference=task.is_reference)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["rehearse", *arguments])


def refusal(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 1
    return str(result.exception)


def test_each_scenario_is_played_on_each_stack(played: list[Task]) -> None:
    run("good", "other", "--scenario", "job.yaml", "--scenario", "jobs")
    assert [(task.stack.name, task.name) for task in played] == [
        ("good", "job"), ("other", "job"), ("good", "jobs"), ("other", "jobs")]  # fmt: skip


def test_without_a_scenario_all_shipped_ones_are_played(played: list[Task]) -> None:
    run("good")
    assert [task.name for task in played] == list(shipped())


def test_speed_and_node_start_decide_the_pace(played: list[Task]) -> None:
    run("good", "--scenario", "job.yaml", "--speed", "30", "--node-start", "4m")
    assert (played[0].pace.speed, played[0].pace.node_start) == (30, 240)


def test_json_is_all_that_standard_output_has(played: list[Task]) -> None:
    result = run("good", "--scenario", "job.yaml", "--json")
    assert json.loads(result.stdout)["schemaVersion"] == 1


def test_a_page_is_written(played: list[Task], checkout: Path) -> None:
    run("good", "--scenario", "job.yaml", "--output", "report.html")
    assert (checkout / "report.html").read_text().startswith("<!doctype html>")


def test_a_comparison_with_a_stack_plays_that_stack_first(played: list[Task]) -> None:
    result = run("good", "--scenario", "job.yaml", "--compare", "other", "--json")
    assert [task.shown_as for task in played] == ["other", "good"]
    assert len(json.loads(result.stdout)["comparisons"]) == 1


def test_a_comparison_with_a_commit_plays_its_stack_file(played: list[Task], checkout: Path) -> None:
    commit(checkout)
    (checkout / "Pulumi.good.yaml").write_text(VALID + WORK.replace("max: 2", "max: 9"))
    run("good", "--scenario", "job.yaml", "--compare", "HEAD")
    sizes = [(task.shown_as, task.stack.config.pools["work"].size.max) for task in played]
    assert sizes == [("good@HEAD", 2), ("good", 9)]


def test_what_is_compared_with_decides_neither_exit_code_nor_headline(
    monkeypatch: pytest.MonkeyPatch, played: list[Task], checkout: Path
) -> None:
    def rehearse(_: Rehearser, task: Task) -> Outcome:
        ends = night("other") if task.shown_as == "other" else calm("good")
        return replace(task.unplayed, record=ends.record, verdicts=ends.verdicts, costs=ends.costs)

    monkeypatch.setattr(command, "rehearse_all", rehearse_all)
    monkeypatch.setattr(Rehearser, "rehearse", rehearse)
    asked = ["--scenario", "job.yaml", "--output", "report.html", "--compare"]
    for stacks_, code, headline in (
        (("good", "other"), 0, "All 8 expectations met"),
        (("other", "good"), 1, "2 of 9 expectations missed"),
    ):
        result = run(stacks_[0], *asked, stacks_[1])
        assert (result.exit_code, result.stdout.splitlines()[0]) == (code, headline)
        page = (checkout / "report.html").read_text()
        assert f"{headline}</h1>" in page
        assert f'<header class="page {"bad" if code else "good"}">' in page
        document = json.loads(run(stacks_[0], *asked, stacks_[1], "--json").stdout)
        assert (document["headline"], document["isMet"]) == (headline, not code)
        assert [each["isReference"] for each in document["outcomes"]] == [True, False]


def test_a_duel_plays_each_scaler_after_the_other_and_the_autoscaler_decides(
    monkeypatch: pytest.MonkeyPatch, played: list[Task], checkout: Path
) -> None:
    asked: dict[str, object] = {}
    play = command.rehearse_all

    def noted(tasks: list[Task], rehearser: Rehearser, *, at_once: int) -> Played:
        asked["at once"] = at_once
        return play(tasks, rehearser, at_once=at_once)

    monkeypatch.setattr(command, "rehearse_all", noted)
    monkeypatch.setattr(command, "ensure", lambda programs, **_: asked.update(programs=programs))
    result = run("good", "--scenario", "job.yaml", "--duel", "--json", "--output", "report.html")
    names = ["good with Cluster Autoscaler", "good with Karpenter", "good with Karpenter, empty nodes"]
    assert [(task.shown_as, task.scaler, task.is_reference) for task in played] == [
        (name, scaler, scaler.is_karpenter) for name, scaler in zip(names, Scaler, strict=True)]  # fmt: skip
    assert asked["at once"] == 1
    assert {"kube-apiserver", "cluster-autoscaler", "karpenter"} <= set(cast("list[str]", asked["programs"]))
    (duel,) = json.loads(result.stdout)["duels"]
    assert (duel["stack"], duel["scenario"]) == ("good", "job")
    assert "job on good: Cluster Autoscaler or Karpenter" in (checkout / "report.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["nowhere"], ["Stack 'nowhere' not found"]),
        (["good", "--scenario", "jbs"], ["jbs", "did you mean 'jobs'"]),
        (["good", "--patch", "a.patch"], ["--patch: needs --advise"]),
        (["good", "--advise", "--patch", "a.patch"], ["--patch: writes the change for one scenario on one stack"]),
        (["good", "--speed", "1000"], ["--speed: 1000 is not allowed; 5 to 600 are."]),
        (["good", "--node-start", "soon"], ["--node-start: 'soon' must be a duration"]),
        (["good", "--replay", "x.log", "--scenario", "jobs"], ["--replay and --scenario cannot be combined"]),
        (["good", "--from", "2026-11-23T00:00:00Z"], ["--from: for --replay only"]),
        (["good", "--replay", "job.yaml", "--from", "monday"], ["--from: must be a time with its zone"]),
        (["good", "other", "--compare", "HEAD"], ["--compare: compares one stack, but 2 are named"]),
        (["good", "--compare", "good"], ["--compare: 'good' is the stack itself"]),
        (
            ["good", "--compare", "elsewhere"],
            ["--compare: 'elsewhere' is not a stack", "is not in a Git repository"],
        ),
        (
            ["good", "--duel", "--compare", "other", "--advise", "--replay", "x", "--write-scenario", "a.yaml"],
            ["--duel and --compare, --advise, --write-scenario cannot be combined"],
        ),
        (
            ["good", "other", "--duel", "--at-once", "2"],
            ["--duel: plays on one stack, but 2 are named", "--duel: --at-once 2 is not allowed"],
        ),
        (
            ["fixed", "--duel", "--scenario", "job.yaml", "--speed", "300"],
            [
                "--duel: stack 'fixed': no pool has a size.max above its size.min",
                "--duel: job would be faster than 120 times real time",
            ],
        ),
        (["good", "--output", "missing/report.html"], ["--output: missing/report.html cannot be written"]),
        (["good", "--output", "-"], ["--output: it cannot be standard output"]),
        (["good", "--node-start", "61m"], ["--node-start: '61m' is too long; at most 1h."]),
        (["good", "--compare", ""], ["--compare: '' is not a stack, and ", " is not in a Git repository"]),
        (
            ["nowhere", "--speed", "0", "--output", "missing/r.html", "--replay", "x", "--write-scenario", "job.yaml"],
            [
                "'nowhere' not found",
                "--speed: 0",
                "missing/r.html cannot be written",
                "x: file not found",
                "job.yaml exists",
            ],
        ),
        (["good", "--replay", "x", "--write-scenario", "-"], ["--write-scenario: it cannot be standard output"]),
        (
            ["good", "--replay", "x", "--write-scenario", "My_Day.yaml"],
            ["My_Day.yaml cannot be the file of a scenario"],
        ),
        (
            ["good", "--replay", "x", "--write-scenario", "no/my.yaml"],
            ["--write-scenario: no/my.yaml cannot be written"],
        ),
        (["nowhere", "--scenario", "jbs", "--speed", "0"], ["'nowhere' not found", "jbs", "--speed: 0 is not allowed"]),
        (["nowhere", "--compare", "elsewhere"], ["'nowhere' not found", "--compare: 'elsewhere' is not a stack"]),
        (["nowhere", "bad"], ["'nowhere' not found", "Pulumi.bad.yaml:"]),
        (["bad", "--compare", "elsewhere"], ["Pulumi.bad.yaml:", "--compare: 'elsewhere' is not a stack"]),
        (
            ["good", "other", "--compare", "elsewhere"],
            ["--compare: compares one stack", "--compare: 'elsewhere' is not a stack"],
        ),
        (["good", "--replay", "x", "--from", "monday", "--to", "friday"], ["--from: must", "--to: must", "x: file"]),
        (["good", "--from", "monday", "--scenario", "jbs"], ["--from: must", "--from: for --replay only", "jbs"]),
        (["good", "--replay", "x", "--scenario", "jbs"], ["cannot be combined", "x: file not found", "jbs"]),
        (
            ["good", "other", "--patch", "no/a.patch"],
            ["--patch: needs --advise", "for one scenario on one stack", "no/a.patch cannot be written"],
        ),
        (
            ["good", "--write-scenario", "no/My_Day.yaml"],
            ["for --replay only", "My_Day.yaml cannot be the file", "no/My_Day.yaml cannot be written"],
        ),
        (
            ["good", "--scenario", "lost.yaml", "--speed", "0", "--node-start", "61m"],
            ["the stack has no such pool", "--speed: 0", "--node-start: '61m'"],
        ),
    ],
)
def test_mistakes_are_refused_before_anything_is_played(
    played: list[Task], arguments: list[str], texts: list[str]
) -> None:
    said = refusal(*arguments)
    assert all(text.lower() in said.lower() for text in texts), said
    assert not played


def commit(checkout: Path) -> None:
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=checkout, check=True)


@pytest.mark.parametrize("revision", ["--help", "-x", "HEAD:Pulumi.good.yaml", "HEAD^{tree}", "HEAD..HEAD", "", "a\nb"])
def test_what_is_no_commit_is_refused(played: list[Task], checkout: Path, revision: str) -> None:
    commit(checkout)
    assert "is neither a stack nor a commit of the repository" in refusal("good", f"--compare={revision}")
    assert not played


def test_mistakes_in_the_stack_file_of_a_commit_name_file_and_commit(played: list[Task], checkout: Path) -> None:
    file = checkout / "Pulumi.good.yaml"
    file.write_text((VALID + WORK).replace("max: 2", "max: many"))
    commit(checkout)
    file.write_text(VALID + WORK)
    said = refusal("good", "--compare", "HEAD")
    assert said.startswith("--compare: the stack file of commit ")
    assert " in Pulumi.good.yaml\nPulumi.good.yaml:" in said
    assert "igz-clusters-revision" not in said


def test_a_mistake_in_the_prices_is_refused_with_the_others_and_before_the_toolchain_is_made(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ensure(**_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(command, "ensure", ensure)
    (checkout / "prices.json").write_text("no JSON")
    said = refusal("nowhere", "--speed", "0")
    assert all(text in said for text in ("'nowhere' not found", "--speed: 0 is not allowed", "prices.json"))
    assert "prices.json" in refusal("good", "--scenario", "job.yaml")


def test_a_page_in_a_place_that_takes_no_files_is_refused_at_once(played: list[Task]) -> None:
    assert "--output: /proc/report.html cannot be written: " in refusal("good", "--output", "/proc/report.html")
    assert not played


def test_a_data_folder_that_takes_no_files_is_refused_at_once(
    played: list[Task], checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (checkout / "file").write_text("")
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(checkout / "file"))
    assert f"Cannot use {checkout / 'file'}" in refusal("good", "--scenario", "job.yaml")
    assert not played


def test_what_a_wait_says_is_printed_once() -> None:
    console = Console(file=(text := io.StringIO()), width=80)
    with watching(console, 1) as watcher:
        task = cast("Task", SimpleNamespace(title="good job"))
        for step in ("2 of 3 nodes are ready", "2 of 3 nodes are ready", "3 of 3 nodes are ready"):
            watcher.step(task, step)
    assert text.getvalue().count("2 of 3 nodes") == 1
    assert text.getvalue().count("3 of 3 nodes") == 1


def test_scenarios_are_listed_with_what_they_show() -> None:
    result = run("--list", "--json")
    rows = json.loads(result.stdout)
    assert [row["name"] for row in rows] == list(shipped())
    assert run("--list").stdout.count("\n") >= len(rows)


def test_of_a_scenario_that_is_no_file_of_the_user_s_advice_says_how_to_change_it(
    played: list[Task], checkout: Path
) -> None:
    (checkout / "audit.log").write_text(lines(life(pod("a"), 0, scheduled=1, completed=60)))
    run("good", "--scenario", "jobs", "--scenario", "job.yaml")
    run("good", "--replay", "audit.log")
    copy = f"the scenario is shipped; copy {shipped()['jobs']}, change the copy, and name it with --scenario"
    replay = "the scenario is a replay; write it with --write-scenario, change it there, and name it with --scenario"
    assert [(task.file, task.how_to_edit) for task in played] == [
        (None, copy), (Path("job.yaml"), ""), (None, replay)]  # fmt: skip


def test_a_patch_of_an_earlier_search_does_not_stay_if_there_is_none_now(
    monkeypatch: pytest.MonkeyPatch, played: list[Task], checkout: Path
) -> None:
    (checkout / "soon.yaml").write_text(SIX)
    asked = ["good", "--scenario", "soon.yaml", "--advise", "--patch", "a.patch"]
    monkeypatch.setattr(Rehearser, "rehearse", lambda _, task: outcome(task.stack, task.scenario, toy(6)))
    monkeypatch.setattr(sys.modules[__name__], "outcome_of", lambda task: outcome(task.stack, task.scenario, toy(6)))
    found = run(*asked)
    assert "Patch: a.patch" in found.stderr
    assert "+        size: { min: 0, max: 6 }" in (checkout / "a.patch").read_text()
    monkeypatch.setattr(sys.modules[__name__], "outcome_of", lambda task: outcome(task.stack, task.scenario, toy(1)))
    now = run(*asked)
    assert (checkout / "a.patch").read_text() == ""
    assert "No patch, so this file is empty: a.patch" in now.stderr


@pytest.mark.parametrize("lost", ["", "etcd has ended"])
def test_a_refused_stack_is_a_mistake_that_is_said_once(
    monkeypatch: pytest.MonkeyPatch, checkout: Path, lost: str
) -> None:
    def rehearse(_: Rehearser, task: Task) -> Outcome:
        if task.stack.name == "other":
            raise UserError("The simulated cluster refuses its Node one: no such field", "Correct the stack file.")
        if lost:
            raise LostError(lost)
        return replace(calm("good"), scenario=task.name)

    monkeypatch.setattr(command, "ensure", lambda **_: object())
    monkeypatch.setattr(Rehearser, "rehearse", rehearse)
    result = run("good", "other", "--scenario", "job.yaml", "--scenario", "jobs", "--scenario", "gpus", "--at-once=1")
    assert getattr(result.exception, "exit_code", None) == 1
    assert str(result.exception).splitlines() == [
        "Stack 'other' cannot be rehearsed: The simulated cluster refuses its Node one: no such field",
        "Correct the stack file.",
        *(f"good {name}: no verdict: {lost}" for name in ("job", "jobs", "gpus") if lost),
    ]
    assert "Correct the stack file." not in result.output
    assert result.stdout.count("other, ") == 1


def test_a_control_plane_lost_in_the_search_ends_it_and_changes_no_verdict(
    monkeypatch: pytest.MonkeyPatch, played: list[Task], checkout: Path
) -> None:
    (checkout / "soon.yaml").write_text(SIX)
    monkeypatch.setattr(sys.modules[__name__], "outcome_of", lambda task: outcome(task.stack, task.scenario, toy(6)))

    def lost(*_: object) -> Outcome:
        raise LostError("etcd has ended.\nThe end of its log:\n  no space left")

    monkeypatch.setattr(Rehearser, "rehearse", lost)
    result = run("good", "--scenario", "soon.yaml", "--advise")
    assert result.exit_code == 1  # of the missed expectation
    assert "The search ended early: etcd has ended.\nThe end of its log:\n  no space left\n" in result.stdout
    assert "no verdict" not in result.output
    advice = json.loads(run("good", "--scenario", "soon.yaml", "--advise", "--json").stdout)["advice"]
    assert [each["ended"].splitlines()[-1] for each in advice] == ["  no space left"]


@pytest.mark.parametrize(
    ("lost", "headline"),
    [
        (["job"], "1 scenario without a verdict, 0 of 8 other expectations missed"),
        (["job", "jobs"], "2 scenarios without a verdict"),
    ],
)
def test_a_scenario_whose_control_plane_fails_is_in_every_report_without_a_verdict(
    monkeypatch: pytest.MonkeyPatch, checkout: Path, lost: list[str], headline: str
) -> None:
    def rehearse(_: Rehearser, task: Task) -> Outcome:
        if task.name in lost:
            raise LostError("etcd has ended.\nThe end of its log:\n  no space left")
        return replace(calm("good"), scenario=task.name)

    monkeypatch.setattr(command, "ensure", lambda **_: object())
    monkeypatch.setattr(Rehearser, "rehearse", rehearse)
    asked = ["good", "--scenario", "job.yaml", "--scenario", "jobs", "--advise", "--output", "report.html"]
    result = run(*asked)
    assert getattr(result.exception, "exit_code", None) == 3
    assert "good job: no verdict: etcd has ended." in str(result.exception)
    assert result.stdout.startswith(f"{headline}\n")
    assert "good, job: No verdict: etcd has ended.\n" in result.stdout
    assert "Advice" not in result.stdout
    assert f"2 scenarios on good: {headline}</title>" in (checkout / "report.html").read_text()
    document = json.loads(run(*asked, "--json").stdout)
    assert (document["headline"], document["isMet"]) == (headline, False)
    found = {each["scenario"]: (each["stack"], each["lost"][:14], each["isMet"]) for each in document["outcomes"]}
    assert list(found) == ["job", "jobs"]
    assert [found[name] for name in lost] == [("good", "etcd has ended", False)] * len(lost)
