"""The log of all calls: what was asked for, in which order, and how it was answered."""

import itertools
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Final

DROPPED: Final = "dropped"
"""Code of a call that got no answer."""


@dataclass
class Call:
    """One call.

    Parameters
    ----------
    number
        From 1 on, in the order of arrival.
    operation
        Such as ``eks:CreateNodegroup``.
    about
        What it names, such as ``mlrun-dev/gpu``.
    params
        The whole request.
    begin, end
        Seconds since the server's start; ``end`` is None as long as there is no answer.
    code
        Of the answer: the cloud's error code, ``dropped``, empty for a success.
    faults
        The actions of the fault rules that met it.
    """

    number: int
    operation: str
    about: str
    params: dict[str, Any]
    begin: float
    end: float | None = None
    code: str = ""
    faults: list[str] = field(default_factory=list)


class Calls:
    """All calls since the start; safe to use from several threads."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._calls: list[Call] = []

    def begin(self, operation: str, about: str, params: dict[str, Any]) -> Call:
        """Note that a call has arrived."""
        with self._lock:
            call = Call(next(self._numbers), operation, about, params, self._now())
            self._calls.append(call)
            return call

    def end(self, call: Call, code: str) -> None:
        """Note how a call was answered."""
        with self._lock:
            call.code, call.end = code, self._now()

    def after(self, number: int = 0) -> list[Call]:
        """Return the calls that arrived after the one with a number, oldest first."""
        with self._lock:
            return self._calls[number:]

    def _now(self) -> float:
        return time.monotonic() - self._started
