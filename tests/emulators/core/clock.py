"""How long a cloud works on something after it has answered, in seconds of the cloud times a scale."""

import heapq
import itertools
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

NOTHING_TAKES_TIME: Final[Mapping[str, float]] = MappingProxyType({})


class Clock:
    """Does later what a cloud does by itself once its time has come.

    Nothing runs in the background: ``settle`` does what is due, and the application calls it before each request. All
    methods are called by one thread at a time.

    Parameters
    ----------
    scale
        Real seconds for a second of the cloud; 0, the default, means that all work is done at once.
    seconds
        Of the cloud, by operation, such as ``eks:CreateCluster``. What is not listed is done when it is answered.
    """

    def __init__(self, scale: float = 0.0, seconds: Mapping[str, float] = NOTHING_TAKES_TIME) -> None:
        self.scale, self.seconds = scale, seconds
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._ahead = 0.0

    def now(self) -> float:
        """Return the time in real seconds, with those that a test let pass at once."""
        return time.monotonic() + self._ahead

    def advance(self, seconds: float) -> None:
        """Let so many seconds of the cloud pass at once."""
        self._ahead += seconds * self.scale

    def takes(self, operation: str) -> float:
        """Return the real seconds that the cloud works on an operation."""
        return self.seconds.get(operation, 0) * self.scale

    def later(self, operation: str, work: Callable[[], None]) -> None:
        """Do ``work`` when an operation that begins now is done; at once if it takes no time."""
        seconds = self.takes(operation)
        if seconds:
            heapq.heappush(self._due, (self.now() + seconds, next(self._order), work))
        else:
            work()

    def settle(self) -> None:
        """Do what is due by now, in the order in which it became due."""
        while self._due and self._due[0][0] <= self.now():
            heapq.heappop(self._due)[2]()
