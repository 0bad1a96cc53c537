"""Shows build progress, live on a terminal and as plain lines elsewhere."""

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
    """Yield a receiver of build events that shows them.

    A terminal shows one live line: the program, the elapsed time, and the expected time on two cores.
    Elsewhere a line is printed at the start and end of each program, and every 30 s in between.

    Parameters
    ----------
    console
        Where to show them, default standard error.
    """
    console = console or Console(stderr=True)
    # Started with the first program only, so that a run with nothing to build stays silent.
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
            self._line(f"Deleted the Go build cache, {decimal(event.freed)} freed.")

    def _line(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)
