"""Scenario time, and the actions that are due at its moments."""

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
        Returns seconds of real time since an arbitrary moment.
    """

    def __init__(self, pace: Pace, ticks: Callable[[], float] = time.monotonic) -> None:
        self._pace = pace
        self.ticks = ticks
        self._zero = ticks()

    def start(self) -> None:
        """Start the scenario now."""
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
        """Schedule ``action`` for ``moment``; actions of one moment run in the order in which they were added."""
        with self._lock:
            heapq.heappush(self._entries, (moment, next(self._count), action))

    def add_steps(self, moment: float, steps: Steps, now: Callable[[], float]) -> None:
        """Schedule the first of several steps for ``moment``, and each next one after the time that ``steps`` yield."""

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
