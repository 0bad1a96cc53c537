"""Repeats a call in the background."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def repeating(seconds: float, act: Callable[[], object]) -> Iterator[None]:
    """Call ``act`` in a thread of its own until the end of the block, each time after so many seconds.

    An error of ``act`` ends the calls, not the block.
    """
    ended = threading.Event()

    def go() -> None:
        while not ended.wait(seconds):
            act()

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
