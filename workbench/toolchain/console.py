"""Shows a build on the terminal, or as plain lines where there is none."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.filesize import decimal
from rich.status import Status

from workbench.toolchain.events import Completed, Event, Finished, Progress, Running, Started, Waiting

HEARTBEAT = 30.0
"""Seconds between two lines about one program where there is no terminal."""


@contextmanager
def progress(console: Console | None = None) -> Iterator[Progress]:
    """Give a receiver of build events that shows them.

    On a terminal one line lives at the bottom: what is built, since when, and how long it takes on two
    cores. Elsewhere a line is printed at the start and the end of each program and every 30 s between.

    Parameters
    ----------
    console
        Where to show them, default standard error.
    """
    console = console or Console(stderr=True)
    # Without a terminal the status shows nothing; it is not started at all before the first program, so
    # that a run with nothing to build stays silent.
    status = Status("", console=console)
    try:
        yield _Renderer(console, status)
    finally:
        status.stop()


class _Renderer:
    def __init__(self, console: Console, status: Status) -> None:
        self._console = console
        self._status = status
        self._label = ""
        self._expected = 0
        self._next_heartbeat = HEARTBEAT

    def __call__(self, event: Event) -> None:
        match event:
            case Waiting(pid):
                self._line(f"Another build is running (pid {pid}), waiting.")
            case Started():
                self._start(event)
            case Running(_, elapsed):
                self._run(elapsed)
            case Finished(artifact, elapsed, size):
                self._line(f"{artifact}: built in {elapsed:.0f} s, {decimal(size)}")
            case Completed():
                self._complete(event)

    def _start(self, event: Started) -> None:
        self._label = f"Building {event.artifact} ({event.number} of {event.total})"
        self._expected = event.expected
        self._next_heartbeat = HEARTBEAT
        if self._console.is_terminal:
            self._run(0)
            self._status.start()
        else:
            self._line(f"{self._label}, about {event.expected} s")

    def _run(self, elapsed: float) -> None:
        text = f"{self._label}: {elapsed:.0f} s of about {self._expected} s"
        if self._console.is_terminal:
            self._status.update(text)
        elif elapsed >= self._next_heartbeat:
            self._next_heartbeat += HEARTBEAT
            self._line(text)

    def _complete(self, event: Completed) -> None:
        self._status.stop()
        width = max(map(len, event.sizes))
        for name, size in event.sizes.items():
            self._line(f"  {name:<{width}} {decimal(size):>10}")
        self._line(f"  {'total':<{width}} {decimal(sum(event.sizes.values())):>10}")
        if event.freed:
            self._line(f"Dropped the Go build cache, {decimal(event.freed)} freed.")

    def _line(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
