"""Ends this process when the one that started it is gone; by a signal nobody is told if that one is killed."""

import os
import threading
import time
from typing import Final

PARENT_CHECK: Final = 1.0
"""Seconds between two looks whether the parent still lives."""


def end_with(parent: int) -> None:
    """Watch from a thread of its own, and end this process at once when ``parent`` is its parent no longer.

    Parameters
    ----------
    parent
        What ``os.getppid`` said before anybody was told that this process is ready.
    """
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK)
    os._exit(0)
