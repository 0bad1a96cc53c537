"""A command on a stack as a process: what it is asked, how it is stopped, and what is said of its failure."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.aws import eventually
from workbench.fleet.child import Files, Process, commands, first_problem, this_program
from workbench.fleet.record import Entry
from workbench.fleet.verb import Verb
from workbench.stacks import FOLDER_VARIABLE
from workbench.system import locks

Folder = Callable[..., Path]


@pytest.fixture
def place(folder: Folder) -> Path:
    return folder("a")


def entry(verb: Verb = Verb.UP, **more: Any) -> Entry:
    return Entry("all", verb, "a", **more)


def started(place: Path, script: str, of: Entry | None = None) -> Process:
    """Start a shell script in place of the command line."""
    program = place / "program.sh"
    program.write_text(script)
    lock = locks.take(place / "lock")
    assert lock is not None
    process = Process(of or entry(), Files(place / "run", of or entry()), ["sh", str(program)], lock)
    os.close(lock)
    return process


def ended(process: Process) -> int:
    codes: list[int | None] = []

    def has_ended() -> bool:
        codes.append(process.poll())
        return codes[-1] is not None

    assert eventually(has_ended)
    assert codes[-1] is not None
    return codes[-1]


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        (Verb.PREVIEW, ["preview", "a", "--require-approvals", "--events", "@a-preview.jsonl"]),
        (Verb.UP, ["up", "a", "--yes", "--require-approvals", "--events", "@a-up.jsonl"]),
        (Verb.DRIFT, ["drift", "a", "--json"]),
        (Verb.VERIFY, ["verify", "a", "--json"]),
        (Verb.ACCEPT, ["accept", "a", "--yes", "--json"]),
    ],
)
def test_each_command_runs_without_questions(place: Path, verb: Verb, arguments: list[str]) -> None:
    asked = [each.replace("@", f"{place}/") for each in arguments]
    assert commands(entry(verb), Files(place, entry(verb)), hermetic=False) == [asked]


def test_the_pinned_engine_is_asked_for(place: Path) -> None:
    assert commands(entry(Verb.DRIFT), Files(place, entry()), hermetic=True) == [["drift", "a", "--hermetic", "--json"]]


def test_a_stack_whose_update_was_killed_is_repaired_first(place: Path) -> None:
    process = started(place, 'echo "$@"', entry(needs_repair=True))
    assert ended(process) == 0
    asked = process.files.log.read_text().splitlines()
    assert asked == ["recover a --yes", f"up a --yes --require-approvals --events {place}/run/a-up.jsonl"]


def test_an_interrupt_while_the_repair_ends_well_is_no_update(place: Path) -> None:
    process = started(place, "trap : INT; echo ready; sleep 0.2", entry(needs_repair=True))
    assert eventually(lambda: "ready" in process.files.log.read_text())
    process.interrupt()
    assert ended(process) == 130
    assert process.files.log.read_text() == "ready\n", "the update did not begin"


def test_a_program_that_is_missing_is_a_failure_of_its_stack(place: Path) -> None:
    lock = locks.take(place / "lock")
    assert lock is not None
    process = Process(entry(), Files(place / "run", entry()), [str(place / "none")], lock)
    os.close(lock)
    process.interrupt()
    assert (process.poll(), process.problem()) == (1, "`igz-clusters up` cannot be started: No such file or directory.")


def test_a_comparison_that_cannot_start_is_no_difference(place: Path) -> None:
    lock = locks.take(place / "lock")
    assert lock is not None
    of = entry(Verb.DRIFT)
    process = Process(of, Files(place / "run", of), [str(place / "none")], lock)
    os.close(lock)
    assert process.poll() == 3


@pytest.mark.parametrize(
    ("checks", "code", "problem"),
    [("[]", 3, "Asleep until 08:00. Nothing was verified."), ('[{"deviations": []}]', 0, "")],
)
def test_a_cluster_that_sleeps_is_not_verified(place: Path, checks: str, code: int, problem: str) -> None:
    said = f'{{"checks": {checks}, "notes": ["Asleep until 08:00. Nothing was verified."]}}'
    process = started(place, f"echo '{said}'", entry(Verb.VERIFY))
    assert ended(process) == code
    assert process.problem() == problem


@pytest.mark.parametrize(
    ("notes", "code", "problem"),
    [('["Asleep until 08:00."]', 3, "Asleep until 08:00."), ("[]", 0, "")],
)
def test_a_comparison_that_leaves_objects_out_is_no_verdict(place: Path, notes: str, code: int, problem: str) -> None:
    process = started(place, f'echo \'{{"stacks": [{{"notes": {notes}}}]}}\'', entry(Verb.DRIFT))
    assert ended(process) == code
    assert process.problem() == problem


def test_a_failed_repair_ends_the_stack(place: Path) -> None:
    process = started(place, 'echo "error: no" >&2; exit 1', entry(needs_repair=True))
    assert ended(process) == 1
    assert process.problem() == "no"


def test_the_stacks_folder_is_passed_on_and_the_output_kept(place: Path) -> None:
    process = started(place, f'echo "${FOLDER_VARIABLE}"; echo note >&2')
    assert ended(process) == 0
    assert process.files.log.read_text().splitlines() == [str(place), "note"]


def test_results_in_json_are_kept_apart_from_messages(place: Path) -> None:
    process = started(place, "echo '{}'; echo note >&2", entry(Verb.VERIFY))
    assert ended(process) == 0
    assert (process.files.results.read_text(), process.files.log.read_text()) == ("{}\n", "note\n")


def test_it_is_interrupted_as_by_ctrl_c_and_holds_the_lock_until_it_has_ended(place: Path) -> None:
    process = started(place, "trap 'exit 130' INT; echo ready; while :; do sleep 0.05; done", entry(needs_repair=True))
    assert eventually(lambda: "ready" in process.files.log.read_text())
    assert locks.take(place / "lock") is None
    process.interrupt()
    assert ended(process) == 130, "the update after the repair does not begin"
    taken = locks.take(place / "lock")
    assert taken is not None
    os.close(taken)


def test_it_is_asked_to_end_if_this_program_is_killed(place: Path) -> None:
    script = "trap 'echo asked > asked; exit' TERM; echo ready > ready; while :; do sleep 0.05; done"
    (place / "child.sh").write_text(script)
    parent = f"""
import os, sys, time
from pathlib import Path
from workbench.fleet.child import Files, Process
from workbench.fleet.record import Entry
from workbench.fleet.verb import Verb
from workbench.system import locks
place, entry = Path({str(place)!r}), Entry("all", Verb.UP, "a")
kept = Process(entry, Files(place / "run", entry), ["sh", str(place / "child.sh")], locks.take(place / "lock"))
time.sleep(600)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    program = subprocess.Popen([sys.executable, "-c", parent], cwd=place, env=environment)
    try:
        assert eventually((place / "ready").exists)
    finally:
        program.kill()
        program.wait()
    assert eventually((place / "asked").exists)


def test_this_program_is_how_it_was_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", "workbench.cli", "-C", "x", "fleet", "up"])
    monkeypatch.setattr(sys, "argv", ["workbench/cli/__main__.py", "-C", "x", "fleet", "up"])
    assert this_program() == ["python", "-m", "workbench.cli"]


def event(**payload: Any) -> str:
    return json.dumps({"sequence": 0, "timestamp": 0, **payload}) + "\n"


WARNED = event(diagnosticEvent={"message": "DeprecationWarning: old", "severity": "info#err"})
DRIFT = {"problems": [], "reasons": ["Drift"], "changes": [{"operation": "update", "type": "aws:vpc", "name": "x"}] * 2}
VIOLATION = {
    "message": "closed",
    "policyName": "hn-01",
    "policyPackName": "hardening",
    "enforcementLevel": "mandatory",
}


@pytest.mark.parametrize(
    ("verb", "log", "results", "events", "problem"),
    [
        (Verb.UP, "begin\nerror: It is locked.\nWait for it.\n", "", "", "It is locked."),
        (
            Verb.UP,
            "error: 2 problems block `up`:\n- a is bad\n- b is bad\n",
            "",
            "",
            "2 problems block `up`: - a is bad",
        ),
        (Verb.UP, "done", "", event(diagnosticEvent={"message": "no\n quota", "severity": "error"}), "no quota"),
        (Verb.PREVIEW, "blocked", "", event(policyEvent=VIOLATION), "hn-01: closed"),
        # Python's warnings are lines of standard error, and come first.
        (Verb.UP, "done", "", WARNED + event(diagnosticEvent={"message": "no quota", "severity": "error"}), "no quota"),
        (Verb.PREVIEW, "blocked", "", WARNED + event(policyEvent=VIOLATION), "hn-01: closed"),
        (Verb.UP, "done", "", WARNED, "DeprecationWarning: old"),
        (
            Verb.UP,
            "a: plan passed\n\nProblems\n  old\na: up failed\n\nProblems\n  no quota\n  b\nSaved.\n",
            "",
            "",
            "no quota",
        ),
        (Verb.UP, "first\nlast words\n\n", "", "", "last words"),
        (Verb.UP, "", "", "", ""),
        (Verb.DRIFT, "note: x\n", {"stacks": [DRIFT]}, "", "2 changes, first: update aws:vpc x"),
        (Verb.DRIFT, "", {"stacks": [{**DRIFT, "problems": ["It does not answer."]}]}, "", "It does not answer."),
        (
            Verb.VERIFY,
            "",
            {"checks": [{"deviations": []}, {"deviations": [{"where": "Node a", "problem": "has no label"}]}]},
            "",
            "1 deviation, first: Node a: has no label",
        ),
        (Verb.VERIFY, "error: It does not answer.\n", "", "", "It does not answer."),
        (Verb.ACCEPT, "error: A pod did not land.\n", {"state": "failed"}, "", "A pod did not land."),
        (Verb.UP, "error: \x1b[2J" + "x" * 1_000, "", "", "\\x1b[2J" + "x" * 293 + "..."),
    ],
)
def test_the_first_thing_that_went_wrong_is_named(  # noqa: PLR0917 - files and what they say
    tmp_path: Path, verb: Verb, log: str, results: Any, events: str, problem: str
) -> None:
    files = Files(tmp_path, entry(verb))
    files.log.write_text(log)
    files.results.write_text(json.dumps(results) if results else "")
    if events:
        files.events.write_text(events)
    assert first_problem(files) == problem


def test_the_event_stream_does_not_stay(place: Path) -> None:
    process = started(place, 'for last in "$@"; do :; done; echo "{}" > "$last"; exit 1')
    assert ended(process) == 1
    assert not process.files.events.exists()
