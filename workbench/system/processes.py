"""Identifies processes, and ties children to the process that started them."""

import ctypes
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final, NamedTuple, cast

import psutil

from workbench.system.paths import data_path

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


def tied_to_this() -> Callable[[], None]:
    """Return a ``preexec_fn``: the kernel kills the child when the thread that starts it ends."""
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before prctl took effect
            os.kill(os.getpid(), signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())  # the parent may block signals that its child must receive

    return tie


@contextmanager
def asked_to_end_with_this() -> Iterator[Callable[[], None]]:
    """Yield a ``preexec_fn``: its child gets SIGTERM once if this process is killed, or the block raises.

    The kernel's own signal for the end of a parent is unsuitable: if a process with several threads is killed, the
    child gets it up to once for each, and to the engine the second means to abort its step (Linux v6.12,
    kernel/exit.c, ``forget_original_parent``).
    """
    # A shell of its own group, which Ctrl-C does not reach. Its input ends with this process.
    watcher = subprocess.Popen(
        ["sh", "-c", "read -r child && { read -r _ || kill -TERM $child; }"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        process_group=0,
        env={},
    )
    with watcher:
        pipe = cast("IO[bytes]", watcher.stdin).fileno()

        def report() -> None:
            # By the child itself, so that the watcher knows it before it runs.
            os.write(pipe, b"%d\n" % os.getpid())

        yield report
        watcher.kill()


_MARK: Final = "IGZ_CLUSTERS_RUN"
"""Variable that marks a process as part of a run, whatever started it."""


def mark(stack: str, file: Path) -> dict[str, str]:
    """Return the variables that mark the processes of a run of this process on a stack."""
    return {_MARK: json.dumps([os.getpid(), time.time(), os.getsid(0), _place(), stack, str(file)])}


def _place() -> list[str | int]:
    """Return where process ids and stack names are unique: the pid namespace and the data folder.

    A container has its own pid namespace, and may have another folder at the same path.
    """
    folder = data_path()
    if not folder.exists():  # a render leaves nothing behind
        return [pid_namespace(), str(folder)]
    found = folder.stat()
    return [pid_namespace(), str(folder), found.st_dev, found.st_ino]


def pid_namespace() -> str:
    """Return where the process ids that this process sees are valid; containers differ."""
    return str(Path("/proc/self/ns/pid").readlink())


def abandoned(stack: str, file: Path | None) -> list[psutil.Process]:
    """Return the processes of runs on a stack that have ended.

    Runs in other containers are not considered. A daemon that a run started, such as a login agent, belongs to the
    user: it has left the run's session.

    Parameters
    ----------
    stack
        Name of the stack.
    file
        Its stack file; None for a stack on this machine, where the name alone identifies it.
    """
    found = _marked(lambda run: run.stack == stack and run.file == str(file or run.file))
    return [process for process, run in found if living(run.pid, before=run.since) is None]


def of_run(pid: int) -> list[psutil.Process]:
    """Return the processes of the run that is the living process ``pid``, without itself and without daemons."""
    found = _marked(lambda run: run.pid == pid)
    return [process for process, run in found if living(run.pid, before=run.since)]


def is_suspended(process: psutil.Process) -> bool:
    """Return whether a signal such as SIGSTOP suspended a process."""
    try:
        return process.status() == psutil.STATUS_STOPPED
    except psutil.Error:
        return False


def name_of(process: psutil.Process) -> str:
    """Return id and program of a process for a message, and whether it is suspended; empty if it has ended.

    For an interpreter, the program that it runs is named too.
    """
    with suppress(psutil.Error):
        name, arguments = process.name(), process.cmdline()[1:]
        if name.startswith("python"):
            program = next((Path(each).name for each in arguments if not each.startswith("-")), "")
            name = f"{name} {program}".strip()
        return f"{process.pid} {name}{' (suspended)' if is_suspended(process) else ''}"
    return ""


class _Run(NamedTuple):
    """The run that a process belongs to, from the process's mark."""

    pid: int
    since: float
    session: int
    place: list[str | int]
    stack: str
    file: str


def _marked(wanted: Callable[[_Run], bool]) -> Iterator[tuple[psutil.Process, _Run]]:
    """Yield each running process of this machine whose mark is wanted."""
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError, KeyError, ValueError, TypeError):
            run = _Run(*json.loads(process.environ()[_MARK]))
            is_of_run = run.place == _place() and wanted(run) and os.getsid(process.pid) == run.session
            if is_of_run and process.status() != psutil.STATUS_ZOMBIE:
                yield process, run
