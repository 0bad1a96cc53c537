"""The report on a run: one row for each command on each stack, as data, Markdown and a page."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from workbench.fleet.child import GUARDED, Files
from workbench.fleet.record import Entry, Records, Run
from workbench.fleet.verb import Result, Verb, words
from workbench.rehearsal.scenario.durations import duration_text
from workbench.report.markup import code, prose, table
from workbench.report.model import Outcome
from workbench.report.words import count
from workbench.system.paths import APP

FORMAT: Final = 1

_OUTCOMES: Final = {
    "finished": Outcome.PASSED,
    "failed": Outcome.BLOCKED,
    "no verdict": Outcome.UNJUDGED,
    "running": Outcome.UNJUDGED,
    "interrupted": Outcome.UNJUDGED,
    "killed": Outcome.UNJUDGED,
}
"""Outcome for each state of a run; it decides exit code and colour."""


@dataclass(frozen=True)
class FleetReport:
    """A run as it stands.

    Parameters
    ----------
    run
        The run.
    records
        Where it is kept.
    is_running
        Whether it goes on now.
    """

    run: Run
    records: Records
    is_running: bool = False

    @property
    def state(self) -> str:
        """``finished``, ``failed``, ``no verdict``, ``running``, ``interrupted`` or ``killed``."""
        results = {entry.result for entry in self.run.entries}
        if self.is_running:
            return "running"
        if not self.run.ended or Result.RUNNING in results:
            return "killed"
        if Result.INTERRUPTED in results:
            return "interrupted"
        if Result.FAILED in results or (Result.UNJUDGED in results and self.run.verb.is_change):
            return "failed"
        if Result.UNJUDGED in results:
            return "no verdict"
        return "interrupted" if Result.WAITING in results else "finished"

    @property
    def outcome(self) -> Outcome:
        """What the state means for scripts."""
        return _OUTCOMES[self.state]

    def words(self, entry: Entry) -> str:
        """Return the result of a command in words."""
        is_killed = entry.result is Result.RUNNING and not self.is_running
        return "killed" if is_killed else words(entry.verb, entry.result)

    def next(self, entry: Entry) -> str:
        """Return the command that shows or repeats what went wrong with a stack; empty if nothing did."""
        if entry.result is Result.RUNNING and not self.is_running and entry.verb is Verb.UP:
            return f"{APP} recover {entry.stack}"
        if not entry.result.is_bad:
            return ""
        if entry.verb in (Verb.PREVIEW, Verb.UP):  # `up` of one stack would not wait for its wave
            return f"{APP} {Verb.PREVIEW} {entry.stack} {GUARDED}"
        return f"{APP} {entry.verb} {entry.stack}"

    @property
    def headline(self) -> str:
        """State and counts, such as ``up failed: 3 updated, 1 failed, 26 waiting``."""
        counted = Counter(map(self.words, self.run.entries))
        state = "" if not self.run.verb.is_change and self.state in ("finished", "failed") else f" {self.state}"
        return f"{self.run.verb}{state}: {', '.join(f'{number} {word}' for word, number in counted.items())}"

    @property
    def go_on(self) -> str:
        """What to do next; empty if the run is finished or goes on."""
        if self.state in ("finished", "running"):
            return ""
        if not self.run.verb.is_change:  # each bad stack has its own command
            unfinished = self.state in ("interrupted", "killed")
            return f"`{APP} fleet {self.run.verb}` looks at all stacks again." if unfinished else ""
        fix = "Correct what failed, then `" if self.state == "failed" else "`"
        return f"{fix}{APP} fleet resume` continues; what has succeeded does not run again."

    @property
    def folder(self) -> Path:
        """Where the output of each command is."""
        return self.records.folder(self.run)

    def log(self, entry: Entry) -> Path | None:
        """Return the file with the messages of a command; None if it has not begun."""
        file = Files(self.folder, entry).log
        return file if file.exists() else None


def as_json(report: FleetReport, exit_code: int) -> str:
    """Return the report as one JSON object; new fields may be added, other changes raise ``format``.

    Parameters
    ----------
    report
        The report.
    exit_code
        Exit code of the command that prints it.
    """
    run = report.run
    rows = [
        {
            "stack": each.stack,
            "wave": each.wave,
            "command": each.verb.value,
            "result": each.result.value,
            "seconds": round(each.seconds, 1),
            "exitCode": each.code,
            "problem": each.problem or None,
            "next": report.next(each) or None,
            "log": str(log) if (log := report.log(each)) else None,
        }
        for each in run.entries
    ]
    shape: dict[str, Any] = {
        "format": FORMAT,
        "exitCode": exit_code,
        "run": run.id,
        "command": run.verb.value,
        "state": report.state,
        "fleet": run.file or None,
        "release": run.release,
        "begun": moment(run.begun),
        "ended": moment(run.ended),
        "stacks": rows,
        "leftOut": list(run.left_out),
    }
    return json.dumps(shape, indent=2) + "\n"


def markdown(report: FleetReport) -> str:
    """Return the report as Markdown in which what a stack reported stays text."""
    return "\n\n".join(_blocks(report)) + "\n"


def page(report: FleetReport) -> str:
    """Return the report as one self-contained HTML page."""
    from workbench.report import html  # noqa: PLC0415 its parser would slow down every other command

    return html.page(markdown(report), title=report.headline, outcome=report.outcome)


def _blocks(report: FleetReport) -> Iterator[str]:
    run = report.run
    yield f"## {report.headline}"
    from_file = f" Waves of {code(run.file)}." if run.file else " One wave with all stacks: there is no fleet.yaml."
    ended = f", ended {moment(run.ended)}" if run.ended else ""
    yield f"{APP} {run.release}, begun {moment(run.begun)}{ended}.{from_file}"
    header = ("wave", "stack", "command", "result", "duration", "problem", "next")
    rows = [
        (
            each.wave,
            code(each.stack),
            each.verb.value,
            report.words(each),
            duration_text(each.seconds) if each.ended else "",
            prose(each.problem) if each.problem else "",
            code(command) if (command := report.next(each)) else "",
        )
        for each in run.entries
    ]
    yield table(header, rows)
    if run.left_out:
        yield f"{count(len(run.left_out), 'stack')} in no wave: {', '.join(map(code, run.left_out))}."
    if report.go_on:
        yield report.go_on


def moment(seconds: float) -> str | None:
    """Return a time as ISO 8601; None for 0."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds") if seconds else None
