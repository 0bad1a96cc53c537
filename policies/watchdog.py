"""Ends a pack that does not come to an end: the engine would wait for it for ever."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Final

SECONDS: Final = 120.0
"""What one question of the engine may take. A resource takes milliseconds, the largest stack seconds."""

_EXIT_CODE: Final = 70


@contextmanager
def time_limit(subject: str, seconds: float = SECONDS) -> Iterator[None]:
    """End the process if the block takes longer; the engine then fails the run.

    Parameters
    ----------
    subject
        What is judged, for the message.
    seconds
        How long it may take.
    """
    timer = Timer(seconds, _give_up, (subject, seconds))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _give_up(subject: str, seconds: float) -> None:
    print(
        f"error: the policies did not come to an end with {subject} within {seconds:g} s", file=sys.stderr, flush=True
    )
    os._exit(_EXIT_CODE)  # a thread that hangs cannot be ended otherwise
