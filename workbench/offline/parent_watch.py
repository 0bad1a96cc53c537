"""Ends this process when its parent has ended; no signal announces that if the parent is killed."""

import os
import threading
import time
from typing import Final

PARENT_CHECK: Final = 1.0
"""Seconds between two checks of the parent process."""


def end_with(parent: int) -> None:
    """Watch in a separate thread, and exit at once when ``parent`` is no longer the parent process.

    Parameters
    ----------
    parent
        Result of ``os.getppid`` before this process reported that it was ready.
    """
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK)
    os._exit(0)
