"""The report on a run, as data, Markdown and a page."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.fleet import report
from workbench.fleet.record import Entry, Records, Run
from workbench.fleet.report import FleetReport
from workbench.fleet.verb import Result, Verb

Folder = Callable[..., Path]


def run(*results: Result, verb: Verb = Verb.UP, ended: float = 200.0) -> Run:
    found = Run("20261126-up", verb, release="0.2.0", begun=100.0, ended=ended, file="/x/fleet.yaml", left_out=("z",))
    for name, result in zip("abcdef", results, strict=False):
        has_run = result is not Result.WAITING
        problem = "no | quota <b>" if result.is_bad else ""
        found.entries.append(Entry("one", verb, name, result, 100.0 * has_run, 175.0 * has_run, problem=problem))
    return found


def reported(*results: Result, verb: Verb = Verb.UP, ended: float = 200.0, is_running: bool = False) -> FleetReport:
    return FleetReport(run(*results, verb=verb, ended=ended), Records(Path("/nowhere")), is_running)


OK, BAD, LEFT = Result.OK, Result.FAILED, Result.WAITING


@pytest.mark.parametrize(
    ("found", "state", "code"),
    [
        (reported(OK, OK), "finished", 0),
        (reported(OK, BAD, LEFT), "failed", 1),
        (reported(OK, Result.UNJUDGED, verb=Verb.DRIFT), "no verdict", 3),
        (reported(BAD, Result.UNJUDGED, verb=Verb.DRIFT), "failed", 1),
        (reported(OK, Result.UNJUDGED, LEFT), "failed", 1),
        (reported(OK, Result.INTERRUPTED, LEFT), "interrupted", 3),
        (reported(OK, LEFT), "interrupted", 3),
        (reported(OK, Result.RUNNING), "killed", 3),
        (reported(OK, LEFT, ended=0), "killed", 3),
        (reported(OK, Result.RUNNING, ended=0, is_running=True), "running", 3),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_state_of_a_run_decides_the_exit_code(found: FleetReport, state: str, code: int) -> None:
    assert (found.state, found.outcome.exit_code) == (state, code)


def test_the_headline_counts_in_the_words_of_the_command() -> None:
    assert reported(OK, OK, BAD, LEFT).headline == "up failed: 2 updated, 1 failed, 1 waiting"
    assert reported(OK, BAD, verb=Verb.DRIFT).headline == "drift: 1 unchanged, 1 drifted"


def test_it_says_how_to_go_on() -> None:
    assert reported(OK).go_on == ""
    assert reported(BAD).go_on.startswith("Correct what failed, then `igz-clusters fleet resume` continues")
    assert reported(OK, LEFT).go_on.startswith("`igz-clusters fleet resume` continues")
    assert reported(BAD, verb=Verb.VERIFY).go_on == ""
    assert reported(OK, LEFT, verb=Verb.VERIFY).go_on == "`igz-clusters fleet verify` looks at all stacks again."


def test_json_names_each_stack_with_the_next_command(folder: Folder) -> None:
    folder("a")
    records, found = Records.of_folder(), run(OK, BAD, LEFT)
    records.save(found)
    log = records.folder(found) / "b-up.log"
    log.write_text("error: no quota\n")
    shape = json.loads(report.as_json(FleetReport(found, records), 1))
    rows = shape.pop("stacks")
    assert shape == {
        "format": 1,
        "exitCode": 1,
        "run": "20261126-up",
        "command": "up",
        "state": "failed",
        "fleet": "/x/fleet.yaml",
        "release": "0.2.0",
        "begun": "1970-01-01T00:01:40+00:00",
        "ended": "1970-01-01T00:03:20+00:00",
        "leftOut": ["z"],
    }
    assert [row["result"] for row in rows] == ["ok", "failed", "waiting"]
    assert rows[1] == {
        "stack": "b",
        "wave": "one",
        "command": "up",
        "result": "failed",
        "seconds": 75.0,
        "exitCode": None,
        "problem": "no | quota <b>",
        "next": "igz-clusters preview b --require-approvals",
        "log": str(log),
    }


def test_a_killed_stack_is_to_be_recovered() -> None:
    killed, goes_on = (reported(OK, Result.RUNNING, ended=0, is_running=each) for each in (False, True))
    assert killed.headline == "up killed: 1 updated, 1 killed"
    assert [killed.next(each) for each in killed.run.entries] == ["", "igz-clusters recover b"]
    assert goes_on.next(goes_on.run.entries[1]) == ""


def test_markdown_shows_what_failed_as_text() -> None:
    text = report.markdown(reported(OK, BAD, LEFT))
    assert "## up failed: 1 updated, 1 failed, 1 waiting" in text
    assert (
        "| one | `b` | up | failed | 1m15s | no `\\x7c` quota `<b>` | `igz-clusters preview b --require-approvals` |"
        in text
    )
    assert "1 stack in no wave: `z`." in text
    assert text.rstrip().endswith("what has succeeded does not run again.")


def test_the_page_holds_no_markup_of_a_stack() -> None:
    text = report.page(reported(BAD))
    assert '<body class="blocked">' in text
    assert "<title>igz-clusters: up failed: 1 failed</title>" in text
    assert "<code>&lt;b&gt;</code>" in text
