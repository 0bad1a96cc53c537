"""The right to change a stack: one run at a time, and who has it."""

import hashlib
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
from workbench.system.paths import PRIVATE, data_dir

_PATIENCE = 5.0
"""Seconds within which the last processes of an ended run are gone."""
_PAUSE = 0.1


@dataclass(frozen=True)
class Run:
    """The run that took a stack's lock last."""

    pid: int
    command: str
    since: str

    @override
    def __str__(self) -> str:
        """Return command, process and start."""
        return f"`igz-clusters {self.command}` (process {self.pid}, since {self.since})"


@dataclass(frozen=True)
class Held:
    """Who keeps a stack's lock now."""

    run: Run
    processes: list[psutil.Process]

    @property
    def is_running(self) -> bool:
        """Whether the run itself is there; if not, it was killed and the processes are what it left."""
        return any(process.pid == self.run.pid for process in self.processes)


@contextmanager
def stack_lock(stack: str, command: str, stack_file: Path | None = None) -> Iterator[int]:
    """Hold the right to change a stack; yields the lock's descriptor, for the engine and all that it starts.

    Parameters
    ----------
    stack
        Name of the stack.
    command
        What holds it, in the words of the command line.
    stack_file
        Of a stack in a cloud: another folder may have one of the same name, in another account. Default: the stack is
        on this machine, where no two share a name.

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
    """Wait for a short turn to prepare a stack's files, which previews do too."""
    descriptor = locks.wait_for(_file(stack).with_suffix(".opening"))
    try:
        yield
    finally:
        os.close(descriptor)


def held_by(stack: str, stack_file: Path | None = None) -> Held:
    """Return who keeps the stack's lock, of which ``stack_lock`` says more; without processes if nobody does."""
    file = _file(stack, stack_file)
    try:
        run = Run(**json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError):  # nobody has written yet
        run = Run(0, "?", "?")
    return Held(run, locks.holders(file))


def names(processes: list[psutil.Process]) -> str:
    """Return ids and names of processes, as a list for people."""
    listed = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            listed.append(f"{process.pid} {process.name()}")
    return ", ".join(listed)


def _file(stack: str, stack_file: Path | None = None) -> Path:
    folder = data_dir() / "locks"
    folder.mkdir(exist_ok=True, mode=PRIVATE)
    if not stack_file:
        return folder / f"{stack}.lock"
    place = hashlib.sha256(str(stack_file.resolve()).encode()).hexdigest()[:12]
    return folder / f"{stack}-{place}.lock"


def _refusal(stack: str, held: Held) -> UserError:
    if held.is_running:
        return UserError(
            f"The stack '{stack}' is being changed by {held.run}.",
            "Wait until it ends, or press Ctrl-C where it runs: it finishes the step in flight and saves.",
        )
    if held.processes:
        return UserError(
            f"{held.run} was killed, and what it started still works on the stack '{stack}': {names(held.processes)}.",
            f"`igz-clusters recover {stack}` ends it and mends what it left.",
        )
    return UserError(
        f"The stack '{stack}' is held by processes that cannot be seen from here.",
        f"Perhaps another user or container works with the same folder: {data_dir()}",
    )
