"""The engine's process while it runs: how often it was asked to end, and how it is ended."""

import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from workbench.engine import hangs
from workbench.system.errors import AskedToEnd, HungUp

_ABORT: Final = 10.0
"""Seconds for the engine to abort its step after a second Ctrl-C."""

_TOGETHER: Final = 1.0
"""Seconds within which Ctrl-C or the end of a terminal reaches this process and the reader of its output."""


@dataclass
class Running:
    """The engine's process, and how often it was asked to end: after the second time it aborts its step."""

    process: subprocess.Popen[bytes]
    interrupts: int = 0
    is_hung_up: bool = False
    """Whether the terminal of this process is gone: no further run may begin, since the user cannot stop it."""

    def interrupt_once(self) -> None:
        """Ask the engine to end, unless that was done: what is lost with a terminal is no second Ctrl-C."""
        if not self.interrupts:
            self.interrupts += 1
            self.process.send_signal(signal.SIGINT)

    def lose_reader(self) -> None:
        """Ask the engine to end since its output is closed; what closed it, such as Ctrl-C, may reach it too."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_TOGETHER)
        self.interrupt_once()


def wait_for(running: Running, *, is_in_our_group: bool) -> int:
    """Wait until the engine has ended; pass interrupts on, kill all of its processes after the second.

    Returns how often it was interrupted.
    """
    process, is_announced = running.process, False
    end: float | None = None
    while process.poll() is None:
        try:
            if running.interrupts == 1 and not is_announced:
                is_announced = True
                hangs.say("Stopping: the engine finishes its current step and saves the state. Ctrl-C again aborts it.")
            process.wait(None if end is None else max(end - time.monotonic(), 0))
        except HungUp:
            running.is_hung_up = True
            running.interrupt_once()
        except KeyboardInterrupt as interrupt:
            running.interrupts += 1
            if running.interrupts == 2:  # noqa: PLR2004 - further ones do not postpone the end
                end = time.monotonic() + _ABORT
            if not is_in_our_group or isinstance(interrupt, AskedToEnd):
                process.send_signal(signal.SIGINT)
        except subprocess.TimeoutExpired:
            hangs.end_all()
            process.kill()
            end = time.monotonic() + _ABORT
    if running.interrupts > 1:
        hangs.end_all()  # a plug-in that hangs would keep the stack's lock
    return running.interrupts
