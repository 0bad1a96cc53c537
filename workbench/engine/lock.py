"""Locks a stack: one run changes it at a time."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import psutil
from typing_extensions import override

from workbench.system import locks
from workbench.system.errors import UserError
from workbench.system.paths import PRIVATE, data_dir, key_of
from workbench.system.processes import is_suspended, name_of, of_run

_PATIENCE = 5.0
"""Seconds to wait for the last processes of a finished run to end."""
_PAUSE = 0.1


@dataclass(frozen=True)
class Run:
    """The run that last took a stack's lock."""

    pid: int
    command: str
    since: str

    @override
    def __str__(self) -> str:
        """Return command, process and start."""
        return f"`igz-clusters {self.command}` (process {self.pid}, since {self.since})"


@dataclass(frozen=True)
class Held:
    """The current holder of a stack's lock."""

    run: Run
    processes: list[psutil.Process]

    @property
    def is_running(self) -> bool:
        """Whether the run itself is alive; if not, it was killed and ``processes`` are its leftovers."""
        return any(process.pid == self.run.pid for process in self.processes)

    @property
    def of_the_run(self) -> list[psutil.Process]:
        """The processes of a living run, itself first, without others that have the lock's file open."""
        command = next(process for process in self.processes if process.pid == self.run.pid)
        children = list[psutil.Process]()
        with suppress(psutil.Error):
            children = command.children(recursive=True)
        return list(dict.fromkeys([command, *children, *of_run(command.pid)]))


@contextmanager
def stack_lock(stack: str, command: str, stack_file: Path | None = None) -> Iterator[int]:
    """Hold a stack's lock; yields its descriptor, for the engine and its child processes.

    Parameters
    ----------
    stack
        Name of the stack.
    command
        The command that holds it, as typed.
    stack_file
        File of a stack in a cloud: another folder may have a stack of the same name in another account. Default: None,
        for a local stack, whose name is unique on this machine.

    Raises
    ------
    UserError
        Another run holds it, or a killed run left processes that do.
    """
    file = _file(stack, stack_file)
    deadline = time.monotonic() + _PATIENCE
    while (descriptor := locks.take(file)) is None:
        held = held_by(stack, stack_file)
        if held.is_running or time.monotonic() > deadline:
            raise _refusal(stack, held)
        time.sleep(_PAUSE)
    try:
        run = Run(os.getpid(), command, datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S"))
        locks.write(descriptor, json.dumps(asdict(run)))
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opening(stack: str) -> Iterator[None]:
    """Serialise the preparation of a stack's files; previews prepare them too."""
    descriptor = locks.wait_for(_file(stack).with_suffix(".opening"))
    try:
        yield
    finally:
        os.close(descriptor)


def held_by(stack: str, stack_file: Path | None = None) -> Held:
    """Return the holder of the stack's lock (see ``stack_lock``); without processes if it is free."""
    file = _file(stack, stack_file)
    try:
        run = Run(**json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError):  # never taken
        run = Run(0, "?", "?")
    return Held(run, locks.holders(file))


def held_elsewhere(stack: str) -> UserError | None:
    """Return the error for a stack whose lock processes hold that are not visible here; None if there are none.

    The caller does not hold the lock. The engine's own lock of such a run is in use, though its process is not visible.
    """
    file = _file(stack)
    if (descriptor := locks.take(file)) is None:
        return None if locks.holders(file) else _elsewhere(stack)
    os.close(descriptor)
    return None


def names(processes: list[psutil.Process]) -> str:
    """Return ids and names of processes for a message."""
    return ", ".join(filter(None, map(name_of, processes)))


def still_running(stack: str, held: Held, more: str = "") -> UserError:
    """Return the error for a stack whose lock a living run holds; names its suspended processes.

    Parameters
    ----------
    stack, held
        The stack and the holder of its lock.
    more
        A further clause of the message. Default: none.
    """
    suspended = [process for process in held.of_the_run if is_suspended(process)]
    ids = " ".join(str(process.pid) for process in suspended)
    note = f" It is stuck: {names(suspended)}. `kill -CONT {ids}` continues it." if suspended else ""
    return UserError(
        f"The stack '{stack}' is being changed by {held.run}{more}.{note}",
        "Wait until it ends, or press Ctrl-C where it runs: it finishes its current step and saves the state. "
        f"If it hangs, `igz-clusters recover {stack} --force` lists its processes and ends them.",
    )


def _file(stack: str, stack_file: Path | None = None) -> Path:
    folder = data_dir() / "locks"
    folder.mkdir(exist_ok=True, mode=PRIVATE)
    return folder / (f"{stack}-{key_of(stack_file)}.lock" if stack_file else f"{stack}.lock")


def _refusal(stack: str, held: Held) -> UserError:
    if held.is_running:
        return still_running(stack, held)
    if held.processes:
        return UserError(
            f"{held.run} was killed, but its processes still change the stack '{stack}': {names(held.processes)}.",
            f"`igz-clusters recover {stack}` ends them and repairs the state.",
        )
    return _elsewhere(stack)


def _elsewhere(stack: str) -> UserError:
    return UserError(
        f"The stack '{stack}' is locked by processes that are not visible here.",
        f"Check whether another user or container uses the same folder: {data_dir()}",
    )
