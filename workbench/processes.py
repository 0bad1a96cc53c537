"""Children that do not outlive whoever started them."""

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


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
