"""Scenario time, and what is to happen when."""

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Iterator

from workbench.rehearsal.settings import Pace

Steps = Iterator[float]
"""What happens in several steps; yields the seconds of the scenario until the next."""


class Clock:
    """Time of the scenario on a monotonic clock: results do not depend on changes of the machine's time.

    Parameters
    ----------
    pace
        How fast scenario time passes.
    ticks
        Seconds of real time since any moment.
    """

    def __init__(self, pace: Pace, ticks: Callable[[], float] = time.monotonic) -> None:
        self._pace = pace
        self.ticks = ticks
        self._zero = ticks()

    def start(self) -> None:
        """Let the scenario begin now."""
        self._zero = self.ticks()

    @property
    def now(self) -> float:
        """Seconds of the scenario since its start; negative before it."""
        return self.at(self.ticks())

    def at(self, tick: float) -> float:
        """Return the moment of the scenario at a tick."""
        return self._pace.simulated(tick - self._zero)


class Agenda:
    """Actions by the moment at which they are due; may be used from any thread."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()
        self._lock = threading.Lock()

    def add(self, moment: float, action: Callable[[], None]) -> None:
        """Let ``action`` happen at ``moment``; of one moment, those added first happen first."""
        with self._lock:
            heapq.heappush(self._entries, (moment, next(self._count), action))

    def add_steps(self, moment: float, steps: Steps, now: Callable[[], float]) -> None:
        """Let the first of several steps happen at ``moment``, and each other as long after it as ``steps`` says."""

        def go() -> None:
            if (wait := next(steps, None)) is not None:
                self.add_steps(now() + wait, steps, now)

        self.add(moment, go)

    def due(self, now: float) -> list[Callable[[], None]]:
        """Remove and return what is due."""
        found = []
        with self._lock:
            while self._entries and self._entries[0][0] <= now:
                found.append(heapq.heappop(self._entries)[2])
        return found

    @property
    def next(self) -> float | None:
        """Moment of the next action; None if there is none."""
        with self._lock:
            return self._entries[0][0] if self._entries else None
