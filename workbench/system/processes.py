"""Identifies processes, and ties children to the process that started them."""

import ctypes
import os
import signal
from collections.abc import Callable

import psutil

_PR_SET_PDEATHSIG = 1
_CLOCK_SLACK = 2.0
"""Seconds by which the system clock may be adjusted between two readings of a process's start time."""


def living(pid: int, *, before: float) -> psutil.Process | None:
    """Return the process ``pid`` if it runs and started before a given time, else None.

    Parameters
    ----------
    pid
        The recorded process id.
    before
        When the id was recorded, in seconds since 1970; a process that started later merely reuses the id.
    """
    try:
        process = psutil.Process(pid)
        is_it = process.create_time() < before + _CLOCK_SLACK and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, ValueError, OverflowError):
        return None
    return process if is_it else None


def tied_to_this(sent: signal.Signals) -> Callable[[], None]:
    """Return a ``preexec_fn``: the kernel sends the child a signal when the thread that starts it ends.

    Parameters
    ----------
    sent
        SIGKILL for a child that has nothing to clean up, SIGTERM for one that must shut down in order.
    """
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, sent)
        if os.getppid() != parent:  # the parent died before prctl took effect
            os.kill(os.getpid(), sent)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # the parent may block signals that its child must receive

    return tie
