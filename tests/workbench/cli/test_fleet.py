"""`igz-clusters fleet` from its options to its files, with a program in place of the commands on each stack."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from infra.config import CONFIG_KEY
from support.acceptance import LOCAL
from support.aws import eventually
from workbench import stacks
from workbench.cli import fleet
from workbench.cli.app import app
from workbench.fleet import runner
from workbench.system.errors import NoVerdictError, UserError

WAVES = """\
waves:
  - name: canary
    stacks: [a]
  - name: second
    stacks: [b, c]
  - name: rest
    stacks: ["*"]
"""

PROGRAM = """\
echo "$1 $2" >> "$PLACE/asked"
if [ -e "$PLACE/slow-$2" ]; then
  trap 'touch "$PLACE/stopped-$2"; exit 130' INT TERM
  touch "$PLACE/begun-$2"
  while :; do sleep 0.05; done
fi
if [ -e "$PLACE/broken-$2" ]; then
  echo "error: $2 has no quota." >&2
  exit 1
fi
"""
"""What runs in place of a command on a stack."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setenv("IGZ_CLUSTERS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PLACE", str(tmp_path))
    for name in "abcd":
        (tmp_path / f"Pulumi.{name}.yaml").write_text(json.dumps({"config": {CONFIG_KEY: LOCAL}}))
    (tmp_path / "fleet.yaml").write_text(WAVES)
    (tmp_path / "program.sh").write_text(PROGRAM)
    monkeypatch.setattr(fleet, "this_program", lambda: ["sh", str(tmp_path / "program.sh")])
    monkeypatch.setattr(fleet, "_prepare", lambda *_, **__: None)
    monkeypatch.setattr(runner, "PAUSE", 0.01)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["fleet", *arguments])


def asked(place: Path) -> list[str]:
    """Return what ran since the last call."""
    file = place / "asked"
    lines = file.read_text().splitlines() if file.exists() else []
    file.unlink(missing_ok=True)
    return lines


def results(*arguments: str) -> dict[str, Any]:
    shape = json.loads(run(*arguments, "--json").stdout)
    return {row["stack"]: row["result"] for row in shape["stacks"]}


def test_all_waves_run_in_order(place: Path) -> None:
    done = run("up", "--yes")
    assert done.exit_code == 0, done.output
    ran = asked(place)
    assert (ran[0], sorted(ran[1:3]), ran[3]) == ("up a", ["up b", "up c"], "up d")
    assert done.stdout.endswith("\nup finished: 4 updated\n")
    assert "3 waves of fleet.yaml:\n  canary: a\n  second: b, c\n  rest: d\n" in done.stderr
    assert run("status").exit_code == 0


def test_it_asks_before_it_changes_anything(place: Path) -> None:
    for command, question in (("up", "--yes"), ("accept", "--yes")):
        refused = run(command)
        assert isinstance(refused.exception, UserError)
        assert question in str(refused.exception)
    assert asked(place) == []
    assert run("drift").exit_code == 0


def test_a_failure_in_the_second_wave_stops_the_third_and_resume_continues(place: Path) -> None:
    (place / "broken-b").touch()
    failed = run("up", "--yes", "--output", str(place / "report.md"))
    assert failed.exit_code == 1
    assert sorted(asked(place)) == ["up a", "up b", "up c"]
    assert "b: failed: b has no quota.\n  next  igz-clusters preview b --require-approvals\n  log   " in failed.stdout
    assert "up failed: 2 updated, 1 failed, 1 waiting" in failed.stdout
    assert "`igz-clusters fleet resume` continues" in failed.stdout
    assert "| `b` | up | failed |" in (place / "report.md").read_text()
    assert run("status").exit_code == 1
    (place / "broken-b").unlink()
    resumed = run("resume", "--yes")
    assert resumed.exit_code == 0, resumed.output
    assert asked(place) == ["up b", "up d"]
    assert "b: failed; up runs again." in resumed.stderr


def test_an_edited_stack_file_runs_again(place: Path) -> None:
    run("up", "--yes")
    asked(place)
    again = run("resume")
    assert "nothing runs again" in again.stderr
    assert (again.exit_code, again.stdout.splitlines()[-1]) == (0, "up finished: 4 updated")
    assert asked(place) == []
    file = place / "Pulumi.a.yaml"
    file.write_text(f"{file.read_text()} ")
    again = run("resume", "--yes")
    assert "a: its stack file, its base, the overrides or this package changed; up runs again." in again.stderr
    assert asked(place) == ["up a"]


def test_a_run_that_only_reads_does_not_hide_one_that_is_not_finished(place: Path) -> None:
    (place / "broken-b").touch()
    run("up", "--yes")
    run("preview")
    (place / "broken-b").unlink()
    asked(place)
    resumed = run("resume", "--yes")
    assert asked(place) == ["up b", "up d"]
    assert "Continuing `fleet up` of 20" in resumed.stderr
    assert "up finished: 4 updated" in run("status").stdout
    listed = json.loads(run("list", "--json").stdout)["stacks"]
    assert [row["last"] for row in listed] == [
        "preview: plan passed",
        "up: updated",
        "preview: plan passed",
        "up: updated",
    ]


def test_a_failed_stack_that_moved_out_of_the_waves_of_the_run_is_named(place: Path) -> None:
    (place / "broken-b").touch()
    run("up", "--yes", "--wave", "second")
    (place / "fleet.yaml").write_text(WAVES.replace("[b, c]", "[c]"))
    asked(place)
    resumed = run("resume", "--yes")
    assert "b: failed; up does not run, because no wave of this run includes it now." in resumed.stderr


def test_a_wave_that_was_renamed_is_named_by_resume(place: Path) -> None:
    (place / "broken-b").touch()
    run("up", "--yes", "--wave", "second")
    (place / "fleet.yaml").write_text(WAVES.replace("second", "two"))
    assert "--wave of the run that continues: no such wave: 'second'." in str(run("resume", "--yes").exception)


def test_the_question_counts_what_is_left_to_do(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "broken-b").touch()
    run("up", "--yes")
    questions: list[str] = []
    monkeypatch.setattr(fleet, "agree", questions.append)
    run("resume")
    assert questions == ["Run `up` on 2 stacks, without showing each plan first?"]


def test_a_file_of_waves_that_was_added_meanwhile_is_the_one_of_the_report(place: Path) -> None:
    (place / "fleet.yaml").unlink()
    (place / "broken-b").touch()
    run("up", "--yes")
    (place / "fleet.yaml").write_text(WAVES)
    (place / "broken-b").unlink()
    assert json.loads(run("resume", "--yes", "--json").stdout)["fleet"] == str(place / "fleet.yaml")


def test_waves_can_be_chosen_and_stay_chosen(place: Path) -> None:
    (place / "broken-b").touch()
    run("up", "--yes", "--wave", "second", "--at-once", "1")
    assert asked(place) == ["up b"]
    (place / "broken-b").unlink()
    run("resume", "--yes")
    assert asked(place) == ["up b", "up c"]


def test_what_reads_runs_on_all_stacks_whatever_fails(place: Path) -> None:
    (place / "broken-a").touch()
    drifted = run("drift")
    assert drifted.exit_code == 1
    assert sorted(asked(place)) == ["drift a", "drift b", "drift c", "drift d"]
    assert "drift: 1 drifted, 3 unchanged" in drifted.stdout


def test_without_a_file_all_stacks_are_one_wave(place: Path) -> None:
    (place / "fleet.yaml").unlink()
    done = run("preview")
    assert f"There is no fleet.yaml in {place}: one wave with all stacks (4)." in done.stderr
    assert sorted(asked(place)) == ["preview a", "preview b", "preview c", "preview d"]


@pytest.mark.parametrize("command", [["up"], ["accept"], ["resume"], ["up", "--fleet", "../fleet.yaml"]])
def test_a_folder_without_stacks_does_not_change_the_stacks_of_the_package(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(stacks.FOLDER_VARIABLE)
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    done = run(*command, "--yes")
    assert done.exit_code == 1
    assert f"There is no stack in {empty}." in str(done.exception)


def test_invalid_stack_files_are_named_before_anything_runs(place: Path) -> None:
    for name in "bd":
        (place / f"Pulumi.{name}.yaml").write_text("confg: {}")
    refused = run("up", "--yes")
    assert isinstance(refused.exception, UserError)
    assert "in Pulumi.b.yaml" in str(refused.exception)
    assert "in Pulumi.d.yaml" in str(refused.exception)
    assert asked(place) == []


def test_mistakes_in_the_waves_and_in_stack_files_are_named_together(place: Path) -> None:
    (place / "Pulumi.b.yaml").write_text("confg: {}")
    (place / "fleet.yaml").write_text(WAVES.replace("waves:", "wave:"))
    refused = str(run("up", "--yes").exception)
    assert "in fleet.yaml" in refused
    assert "in Pulumi.b.yaml" in refused


def test_a_folder_that_cannot_be_written_is_no_difference(place: Path) -> None:
    (place / "data").mkdir(mode=0o700)
    (place / "data" / "fleet").touch()
    for command, kind in (("drift", NoVerdictError), ("up", OSError)):
        options = ["--yes"] if command == "up" else []
        assert isinstance(run(command, *options).exception, kind)


def test_to_a_script_a_comparison_that_cannot_start_is_no_difference(place: Path) -> None:
    (place / "Pulumi.b.yaml").write_text("confg: {}")
    for command, kind in (("drift", NoVerdictError), ("verify", NoVerdictError), ("preview", UserError)):
        assert type(run(command).exception) is kind


def test_a_report_that_cannot_be_written_is_refused_first(place: Path) -> None:
    for name, problem in (("report.pdf", "has no known format"), ("no/report.html", "cannot be written")):
        refused = run("up", "--yes", "--output", str(place / name))
        assert isinstance(refused.exception, UserError)
        assert problem in str(refused.exception)
    assert asked(place) == []


def test_the_list_shows_waves_and_last_results(place: Path) -> None:
    (place / "fleet.yaml").write_text("waves: [{name: canary, stacks: [a]}]")
    run("up", "--yes")
    (place / "broken-a").touch()
    run("verify")
    listed = run("list")
    assert listed.exit_code == 0, listed.output
    assert "note: in no wave: b, c, d" in listed.stderr
    lines = [line.split() for line in listed.stdout.splitlines()]
    assert lines[:3] == [
        ["stack", "wave", "kind", "environment", "version", "last", "release"],
        ["a", "canary", "local", LOCAL["environment"], "-", "verify:", "deviating", version("igz-clusters")],
        ["b", "-", "local", LOCAL["environment"], "-", "-", "-"],
    ]
    shape = json.loads(run("list", "--json", "--backend").stdout)
    assert shape["stacks"][0]["last"] == "verify: deviating"
    assert shape["stacks"][0]["resources"] is None, "it has no state yet"


def test_a_damaged_record_is_named_and_the_others_are_listed(place: Path) -> None:
    (place / "fleet.yaml").write_text("waves: [{name: canary, stacks: [a]}]")
    run("up", "--yes")
    run("verify")
    [damaged] = (place / "data").glob("fleet/*/*-verify/run.json")
    damaged.write_text('{"id": 1')
    listed = run("list", "--json")
    assert f"note: {damaged} cannot be read; the results in it are not listed." in listed.stderr
    assert json.loads(listed.stdout)["stacks"][0]["last"] == "up: updated"
    assert isinstance(run("status").exception, UserError), "the newest run may be the damaged one"


@pytest.mark.parametrize("command", ["status", "resume"])
def test_without_a_run_there_is_no_verdict(command: str) -> None:
    refused = run(command)
    assert isinstance(refused.exception, NoVerdictError)
    assert "There is no run" in str(refused.exception)


def test_a_new_run_says_that_the_last_one_is_not_finished(place: Path) -> None:
    (place / "broken-a").touch()
    run("up", "--yes")
    assert "note: the last `fleet up` is not finished" in run("up", "--yes").stderr


STARTED = """\
import sys
from workbench.cli import fleet
program = sys.argv.pop(1)
fleet.this_program = lambda: ["sh", program]
fleet._prepare = lambda *_, **__: None
from workbench.cli.app import main
main()
"""


@pytest.fixture
def start(place: Path) -> Callable[[str], subprocess.Popen[str]]:
    """Start a command in a process of its own."""

    def begin(*arguments: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", STARTED, str(place / "program.sh"), "fleet", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, cwd=place, env=environment, stdout=pipe, stderr=pipe, text=True)

    return begin


Start = Callable[..., subprocess.Popen[str]]


def begun(place: Path, process: subprocess.Popen[str]) -> bool:
    """Wait until the second stack has begun; return whether the process still runs."""
    return eventually(lambda: (place / "begun-b").exists() or process.poll() is not None) and process.poll() is None


def test_ctrl_c_waits_for_each_stack_and_resume_continues(place: Path, start: Start) -> None:
    (place / "slow-b").touch()
    process = start("up", "--yes")
    assert begun(place, process)
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    assert "Stopping: waiting for " in said
    assert (place / "stopped-b").exists()
    assert "up interrupted: " in shown
    assert results("status")["b"] == "interrupted"
    (place / "slow-b").unlink()
    asked(place)
    assert run("resume", "--yes").exit_code == 0
    assert [line for line in asked(place) if line != "up c"] == ["recover b", "up b", "up d"]


def test_a_killed_run_continues_without_repeating_what_has_ended(place: Path, start: Start) -> None:
    (place / "slow-b").touch()
    process = start("up", "--yes", "--at-once", "1")
    assert begun(place, process)
    process.kill()
    process.communicate(timeout=600)
    assert eventually((place / "stopped-b").exists), "its last process was asked to end"
    assert eventually(lambda: "up killed: 1 updated, 1 killed, 2 waiting" in run("status").stdout)
    assert run("status").exit_code == 3
    (place / "slow-b").unlink()
    asked(place)
    resumed = run("resume", "--yes")
    assert resumed.exit_code == 0, resumed.output
    assert asked(place) == ["recover b", "up b", "up c", "up d"]
    assert "b: was killed; up runs again." in resumed.stderr


def test_under_nohup_the_end_of_the_terminal_does_not_stop_it(place: Path, start: Start) -> None:
    (place / "slow-b").touch()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the process inherits it
    try:
        process = start("up", "--yes", "--at-once", "1")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert begun(place, process)
    status = Path(f"/proc/{process.pid}/status").read_text()
    ignored = next(line.split()[1] for line in status.splitlines() if line.startswith("SigIgn"))
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    assert int(ignored, 16) & 1 << signal.SIGHUP - 1
