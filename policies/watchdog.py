"""Ends a pack that hangs; the engine would wait forever."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Final

SECONDS: Final = 120.0
"""Time limit for one request of the engine. A resource takes milliseconds, the largest stack seconds."""

_EXIT_CODE: Final = 70
_LOOKS_EVERY: Final = 1.0
"""Seconds between two checks of the one watching thread; a thread per request would cost more than the evaluation."""

_open: Final[dict[int, tuple[float, str, float]]] = {}
"""Pending requests: the deadline, subject and time limit of each."""
_lock: Final = Lock()
_watchers: Final[list[Thread]] = []


@contextmanager
def time_limit(subject: str, seconds: float = SECONDS) -> Iterator[None]:
    """End the process if the block takes longer; the engine then fails the run.

    Parameters
    ----------
    subject
        The subject, for the message.
    seconds
        Time limit in seconds, accurate to a second.
    """
    key = object()
    with _lock:
        _open[id(key)] = (time.monotonic() + seconds, subject, seconds)
        if not _watchers:
            _watchers.append(Thread(target=_watch, daemon=True))
            _watchers[0].start()
    try:
        yield
    finally:
        with _lock:
            del _open[id(key)]


def _watch() -> None:
    while True:
        time.sleep(_LOOKS_EVERY)
        with _lock:
            late = [entry for entry in _open.values() if entry[0] < time.monotonic()]
        for _, subject, seconds in late:
            said = f"error: the policies did not finish checking {subject} within {seconds:g} s"
            print(said, file=sys.stderr, flush=True)
            os._exit(_EXIT_CODE)  # a thread that hangs cannot be ended otherwise
