"""Notices a run that is stuck, and ends one that does not end by itself."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

import psutil

from workbench.system.processes import is_suspended, name_of, of_run

SILENCE: Final = 60.0
"""Seconds without news from the engine after which its processes are listed; doubled each time."""

_PAUSE: Final = 2.0
"""Seconds between two checks; a process must be suspended at both, since Ctrl-Z and `fg` suspend it for a moment."""

_WAY: Final = "Ctrl-C ends the run after its current step, Ctrl-C twice ends it at once"


@contextmanager
def watching(news: Callable[[], object]) -> Iterator[None]:
    """Print a line to standard error when a process of this run is suspended, and when the engine is silent for long.

    Parameters
    ----------
    news
        Returns a different value if the engine has reported something since the last call.
    """
    ended = threading.Event()
    thread = threading.Thread(target=_watch, args=(news, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def end_all() -> None:
    """Kill all processes of this run: the engine, its plug-ins, packs and program."""
    for process in of_run(os.getpid()):
        with suppress(psutil.Error):
            process.kill()


def say(text: str) -> None:
    """Print a line to standard error, if anything reads it."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _watch(news: Callable[[], object], ended: threading.Event) -> None:
    last, silence, patience = news(), 0.0, SILENCE
    before, said = set[psutil.Process](), set[psutil.Process]()
    while not ended.wait(_PAUSE):
        silence += _PAUSE  # no clock: after Ctrl-Z, the engine has paused as well
        processes = of_run(os.getpid())
        suspended = {process for process in processes if is_suspended(process)}
        for process in (suspended & before) - said:
            say(f"The run is stuck: {name_of(process)}. `kill -CONT {process.pid}` continues it; {_WAY}.")
        said, before = (said & suspended) | (suspended & before), suspended
        if (new := news()) != last:
            last, silence, patience = new, 0.0, SILENCE
        elif silence > patience:
            listed = ", ".join(filter(None, map(name_of, processes)))
            say(f"The engine has reported nothing for {patience:.0f} s; a cloud may need 20 minutes for a cluster.")
            say(f"Its processes: {listed}. If one hangs: {_WAY}.")
            patience *= 2
