"""Which process is meant, and children that do not outlive whoever started them."""

import ctypes
import os
import signal
from collections.abc import Callable

import psutil

_PR_SET_PDEATHSIG = 1
_CLOCK_SLACK = 2.0
"""Seconds by which the kernel's clock may be set between two looks at the same process."""


def living(pid: int, *, before: float) -> psutil.Process | None:
    """Return the process ``pid`` if it runs and began before a time, else None.

    Parameters
    ----------
    pid
        Its id, as somebody wrote it down.
    before
        When it was written down, in seconds since 1970: a process that began later only got the same id.
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
        SIGKILL for a child that has nothing to finish, SIGTERM for one that should end in order.
    """
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, sent)
        if os.getppid() != parent:  # the parent died before it was asked
            os.kill(os.getpid(), sent)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a parent may wait for signals that its child must get

    return tie
