"""Output of `igz-clusters fleet`: progress, the report, and its files."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from workbench import stacks
from workbench.cli.console import PLAIN, errors, out
from workbench.fleet import report
from workbench.fleet.file import Plan
from workbench.fleet.record import Entry, Records, Run
from workbench.fleet.report import FleetReport
from workbench.fleet.runner import Stage, Watcher
from workbench.fleet.verb import Result, words
from workbench.rehearsal.scenario.durations import duration_text
from workbench.report.terminal import print_table
from workbench.report.words import count
from workbench.system.errors import UserError

HEARTBEAT: Final = 60.0
"""Seconds between two lines that say what still runs, where there is no terminal."""

_STYLES: Final = {Result.OK: "green", Result.FAILED: "red", Result.UNJUDGED: "red", Result.INTERRUPTED: "yellow"}


def readable(records: Records) -> Iterator[Run]:
    """Yield the runs that can be read, newest first, and name the records of the others."""
    for place, run in records.all():
        if run:
            yield run
        else:
            errors.print(f"note: {place} cannot be read; the results in it are not listed.", **PLAIN)


@contextmanager
def watching(total: int) -> Iterator[Watcher]:
    """Yield a watcher that prints what happens to standard error.

    Parameters
    ----------
    total
        Number of commands.
    """
    if not errors.is_terminal:
        yield _Lines(errors, total)
        return
    with Live(console=errors, refresh_per_second=4, transient=True) as live:
        yield _LiveLines(errors, total, live)


class _Lines(Watcher):
    """Prints a line when a command begins and ends, and one a minute."""

    def __init__(self, console: Console, total: int) -> None:
        self._console, self._total, self._ended = console, total, 0
        self._running: list[Entry] = []
        self._last = time.monotonic()

    @override
    def began(self, entry: Entry) -> None:
        self._running.append(entry)
        self._line(f"{entry.wave}  {entry.stack}: {entry.verb} begins")

    @override
    def ended(self, entry: Entry) -> None:
        self._running = [each for each in self._running if each is not entry]
        self._ended += 1
        self._line(f"{_told(entry)} ({self._ended} of {self._total})")

    @override
    def bakes(self, stage: Stage, until: float) -> None:
        seconds = max(until - time.time(), 0)
        self._line(f"{stage.wave}: {stage.verb} begins in {duration_text(seconds)}.")

    @override
    def interrupted(self, running: int, *, is_first: bool) -> None:
        way = "finish the current step. Ctrl-C again aborts it." if is_first else "abort the current step."
        self._line(f"Stopping: waiting for {count(running, 'stack')} to {way}")

    @override
    def tick(self) -> None:
        if self._running and time.monotonic() - self._last >= HEARTBEAT:
            now = time.time()
            self._line(
                f"still running: {', '.join(f'{e.stack} ({duration_text(now - e.begun)})' for e in self._running)}"
            )

    def _line(self, text: str) -> None:
        self._last = time.monotonic()
        self._console.print(text, **PLAIN)


class _LiveLines(_Lines):
    """Keeps one line for each command that runs; what ended stays above them."""

    def __init__(self, console: Console, total: int, live: Live) -> None:
        super().__init__(console, total)
        self._live = live
        self._until, self._next = 0.0, ""

    @override
    def began(self, entry: Entry) -> None:
        self._running.append(entry)
        self._until = 0

    @override
    def bakes(self, stage: Stage, until: float) -> None:
        self._until, self._next = until, f"{stage.wave}: {stage.verb}"

    @override
    def tick(self) -> None:
        table, now = Table.grid(padding=(0, 2)), time.time()
        for entry in self._running:
            table.add_row(Text(entry.stack, style="bold"), entry.wave, entry.verb, duration_text(now - entry.begun))
        if self._until > now:
            table.add_row(Text(self._next, style="bold"), f"begins in {duration_text(self._until - now)}")
        self._live.update(table)


def announce(plan: Plan) -> None:
    """Print what runs in which order."""
    if plan.file:
        lines = [f"{count(len(plan.waves), 'wave')} of {stacks.shown_path(plan.file)}:"]
        lines += [f"  {wave.name}: {', '.join(wave.stacks)}" for wave in plan.waves]
    else:
        lines = [
            f"There is no {stacks.FLEET_FILE} in {stacks.folder()}: one wave with all stacks ({len(plan.stacks)})."
        ]
    if plan.left_out:
        lines.append(f"note: in no wave: {', '.join(plan.left_out)}")
    for line in lines:
        errors.print(line, **PLAIN)


def _told(entry: Entry) -> str:
    problem = f": {entry.problem}" if entry.problem else ""
    took = duration_text(entry.seconds)
    return f"{entry.wave}  {entry.stack}: {words(entry.verb, entry.result)} after {took}{problem}"


def show(found: FleetReport, exit_code: int, *, as_json: bool) -> None:
    """Print the report of a command that ends with an exit code to standard output."""
    if as_json:
        out.print(report.as_json(found, exit_code), end="", **PLAIN)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("wave", "stack", "command", "result", "duration"):
        table.add_column(heading, overflow="fold")
    for each in found.run.entries:
        result = Text(found.words(each), style=_STYLES.get(each.result, ""))
        took = duration_text(each.seconds) if each.ended else "-"
        table.add_row(Text(each.wave), Text(each.stack), Text(each.verb.value), result, Text(took))
    print_table(table, out)
    for each in found.run.entries:
        if each.result.is_bad:
            _show_problem(found, each)
    out.print(f"\nThe output of each stack is in {found.folder}.", **PLAIN)
    out.print(found.headline, style="bold", **PLAIN)
    if found.go_on:
        out.print(found.go_on, **PLAIN)


def _show_problem(found: FleetReport, entry: Entry) -> None:
    out.print(f"\n{entry.stack}: {found.words(entry)}: {entry.problem or 'no message'}", **PLAIN)
    out.print(f"  next  {found.next(entry)}", **PLAIN)
    if log := found.log(entry):
        out.print(f"  log   {log}", **PLAIN)


_RENDERINGS: Final = {".md": report.markdown, ".html": report.page}


def require_output(file: Path | None) -> None:
    """Refuse a file that could not be written once everything has run.

    Raises
    ------
    UserError
        Its name has no known suffix, or its folder does not exist.
    """
    if not file:
        return
    if file.suffix not in _RENDERINGS:
        raise UserError(f"--output: {file} has no known format.", "Name a file that ends with .md or .html.")
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise UserError(f"--output: {file} cannot be written.", "Name a file in a folder that exists.")


def write(found: FleetReport, file: Path | None) -> None:
    """Write the report to a file; nothing without one."""
    if not file:
        return
    try:
        file.write_text(_RENDERINGS[file.suffix](found), encoding="utf-8")
    except OSError as error:
        raise UserError(f"--output: cannot write {file}: {error.strerror}.") from None
    errors.print(f"Report: {file}", **PLAIN)
