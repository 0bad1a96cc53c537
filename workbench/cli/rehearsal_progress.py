"""Progress of `igz-clusters rehearse`: live lines on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text
from typing_extensions import override

from workbench.cli.console import PLAIN
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.play.player import Progress
from workbench.rehearsal.rehearse import Task, Watcher
from workbench.rehearsal.report.figures import standing
from workbench.rehearsal.scenario.durations import duration_text

_HEARTBEAT: Final = 30.0
"""Seconds between two lines about one scenario where there is no terminal."""


@contextmanager
def watching(console: Console, total: int) -> Iterator[Watcher]:
    """Yield a watcher that shows what happens.

    Parameters
    ----------
    console
        Where to show it.
    total
        Number of scenarios that will be played.
    """
    if not console.is_terminal:
        yield _Lines(console, total)
        return
    with Live(console=console, refresh_per_second=4, transient=True) as live:
        yield _LiveLines(console, total, live)


class _Lines(Watcher):
    """Prints a line for each new step, and one every half minute while a step or a scenario goes on."""

    def __init__(self, console: Console, total: int) -> None:
        self._console, self._total = console, total
        self._begun, self._ended = time.monotonic(), 0
        self._last: dict[str, float] = {}
        self._said: dict[str, str] = {}
        self._lock = Lock()

    @override
    def step(self, task: Task, text: str) -> None:
        with self._lock:
            now = time.monotonic()
            is_new = self._said.get(task.title) != text
            if is_new or now - self._last.get(task.title, 0) >= _HEARTBEAT:
                self._last[task.title], self._said[task.title] = now, text
                self._line(task, text)

    @override
    def progress(self, task: Task, progress: Progress) -> None:
        with self._lock:
            now = time.monotonic()
            if now - self._last.get(task.title, 0) >= _HEARTBEAT:
                self._last[task.title] = now
                self._line(task, progress_text(progress))

    @override
    def finished(self, task: Task, outcome: Outcome) -> None:
        with self._lock:
            self._ended += 1
            self._line(task, f"{outcome_text(outcome)} ({self._ended} of {self._total})")

    def _line(self, task: Task, text: str) -> None:
        self._console.print(f"{time.monotonic() - self._begun:5.0f} s  {task.title}: {text}", **PLAIN)


class _LiveLines(_Lines):
    """Keeps one line for each scenario that runs; what ended stays above them."""

    def __init__(self, console: Console, total: int, live: Live) -> None:
        super().__init__(console, total)
        self._live = live
        self._running: dict[str, str] = {}

    @override
    def step(self, task: Task, text: str) -> None:
        self._show(task, text)

    @override
    def progress(self, task: Task, progress: Progress) -> None:
        self._show(task, progress_text(progress))

    @override
    def finished(self, task: Task, outcome: Outcome) -> None:
        self._show(task, None)
        super().finished(task, outcome)

    def _show(self, task: Task, text: str | None) -> None:
        with self._lock:
            self._running.pop(task.title, None) if text is None else self._running.update({task.title: text})
            table = Table.grid(padding=(0, 2))
            for title, doing in sorted(self._running.items()):
                table.add_row(Text(title, style="bold"), Text(doing))
            self._live.update(table)


def progress_text(progress: Progress) -> str:
    """Return how far a scenario is, as one line."""
    counts = f"{progress.running} running, {progress.waiting} waiting, {progress.nodes} nodes"
    return f"{duration_text(progress.at)} of {duration_text(progress.lasts)}: {counts}"


def outcome_text(outcome: Outcome) -> str:
    """Return how a scenario ended: one line, and the end of a log if its control plane failed."""
    return f"no verdict: {outcome.lost}" if outcome.lost and not outcome.is_refused else standing(outcome)
