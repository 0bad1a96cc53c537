"""How long AWS works on something after it has answered, in seconds of AWS times a scale."""

import heapq
import itertools
import time
from collections.abc import Callable
from typing import Final

SECONDS: Final = {
    "ec2:CreateNatGateway": 100,
    "ec2:DeleteNatGateway": 50,
    "ec2:CreateVpcEndpoint": 60,
    "ec2:DeleteVpcEndpoints": 30,
    "eks:CreateAddon": 30,
    "eks:CreateCluster": 540,
    "eks:CreateNodegroup": 120,
    "eks:DeleteAddon": 20,
    "eks:DeleteCluster": 180,
    "eks:DeleteNodegroup": 240,
    "eks:UpdateAddon": 40,
    "eks:UpdateClusterConfig": 120,
    "eks:UpdateClusterVersion": 540,
    "eks:UpdateNodegroupConfig": 20,
    "eks:UpdateNodegroupVersion": 600,
}
"""Orders of magnitude, to tell long from short; no measurement. What is not listed is done when it is answered."""


class Clock:
    """Does later what AWS does by itself once its time has come.

    Nothing runs in the background: ``settle`` does what is due, and the application calls it before each request. All
    methods are called by one thread at a time.

    Parameters
    ----------
    scale
        Real seconds for a second of AWS; 0, the default, means that all work is done at once.
    """

    def __init__(self, scale: float = 0.0) -> None:
        self.scale = scale
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def takes(self, operation: str) -> float:
        """Return the real seconds that AWS works on an operation, such as ``eks:CreateCluster``."""
        return SECONDS.get(operation, 0) * self.scale

    def later(self, operation: str, work: Callable[[], None]) -> None:
        """Do ``work`` when an operation that begins now is done; at once if it takes no time."""
        seconds = self.takes(operation)
        if seconds:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._order), work))
        else:
            work()

    def settle(self) -> None:
        """Do what is due by now, in the order in which it became due."""
        while self._due and self._due[0][0] <= time.monotonic():
            heapq.heappop(self._due)[2]()
