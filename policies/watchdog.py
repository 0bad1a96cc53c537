"""Ends a pack that hangs; the engine would wait forever."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Final

SECONDS: Final = 120.0
"""What one question of the engine may take. A resource takes milliseconds, the largest stack seconds."""

_EXIT_CODE: Final = 70
_LOOKS_EVERY: Final = 1.0
"""Seconds between two looks of the one thread that watches; a thread for each question would cost more than judging."""

_open: Final[dict[int, tuple[float, str, float]]] = {}
"""Questions without an answer yet: when each has to be answered, what it is about, and how long it may take."""
_lock: Final = Lock()
_watchers: Final[list[Thread]] = []


@contextmanager
def time_limit(subject: str, seconds: float = SECONDS) -> Iterator[None]:
    """End the process if the block takes longer; the engine then fails the run.

    Parameters
    ----------
    subject
        What is judged, for the message.
    seconds
        How long it may take, to within a second.
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
