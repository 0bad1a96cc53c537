"""The record of a run on many stacks: a file that shows after any kill what has ended and what has not.

Each run has a folder in the user's data folder, with ``run.json`` and the output of each stack.
"""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from workbench import stacks
from workbench.fleet.verb import Result, Verb, words
from workbench.stacks import policy_overrides
from workbench.system import locks
from workbench.system.errors import UserError
from workbench.system.files import write_private
from workbench.system.git import git
from workbench.system.installation import DECIDES, is_from_wheel
from workbench.system.paths import APP, PRIVATE, PROJECT_ROOT, data_dir, data_path

KEPT: Final = 20
"""Number of runs of each command whose records are kept for each folder of stack files."""

_FILE: Final = "run.json"
_LOCK: Final = "lock"


@dataclass
class Entry:
    """One command on one stack.

    Parameters
    ----------
    wave, verb, stack
        Which.
    result
        How far it is.
    begun, ended
        Seconds since 1970; 0 before.
    code
        Exit code of its process. Default: it has not ended.
    problem
        First problem that it reported; empty if there is none.
    inputs
        Fingerprint of what decides its result, when it began; see ``inputs_of``.
    needs_repair
        Whether it was killed or aborted, so that the stack may be damaged.
    """

    wave: str
    verb: Verb
    stack: str
    result: Result = Result.WAITING
    begun: float = 0
    ended: float = 0
    code: int | None = None
    problem: str = ""
    inputs: str = ""
    needs_repair: bool = False

    @property
    def seconds(self) -> float:
        """How long it took; 0 if it has not ended."""
        return max(self.ended - self.begun, 0) if self.ended else 0

    def reset(self) -> None:
        """Mark it to run again, after a repair if it was killed or interrupted."""
        self.needs_repair |= self.result in (Result.RUNNING, Result.INTERRUPTED)
        self.result, self.begun, self.ended, self.code, self.problem, self.inputs = Result.WAITING, 0, 0, None, "", ""


@dataclass
class Run:
    """A run on many stacks.

    Parameters
    ----------
    id
        Name of its folder: time and command.
    verb, waves, at_once, hermetic
        The command and its options: names of the chosen waves, or none for all; stacks at the same time, or 0 for
        those of the file.
    file
        The file of waves. Default: none.
    release
        Version of this package.
    begun
        Seconds since 1970.
    ended
        The same; 0 as long as it runs, and after a kill.
    entries
        Everything that runs, in order.
    left_out
        Stacks of the folder that are in no wave.
    """

    id: str
    verb: Verb
    waves: tuple[str, ...] = ()
    at_once: int = 0
    hermetic: bool = False
    file: str = ""
    release: str = ""
    begun: float = 0
    ended: float = 0
    entries: list[Entry] = field(default_factory=list)
    left_out: tuple[str, ...] = ()

    @property
    def is_finished(self) -> bool:
        """Whether every command succeeded."""
        return all(entry.result is Result.OK for entry in self.entries)

    def entry(self, verb: Verb, stack: str) -> Entry:
        """Return the entry of a command on a stack."""
        return next(each for each in self.entries if (each.verb, each.stack) == (verb, stack))


@dataclass(frozen=True)
class Records:
    """The records of the runs on the stacks of a folder."""

    place: Path

    @classmethod
    def of_folder(cls, folder: Path | None = None) -> "Records":
        """Return the records of a folder of stack files; default: the current one. Creates nothing."""
        digest = hashlib.sha256(str(folder or stacks.folder()).encode()).hexdigest()[:12]
        return cls(data_path() / "fleet" / digest)

    def folder(self, run: Run) -> Path:
        """Return the folder of a run."""
        return self.place / run.id

    def save(self, run: Run) -> None:
        """Write the record; a reader sees the old or the new one."""
        folder = self.folder(run)
        folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        write_private(folder / _FILE, json.dumps(asdict(run), indent=1))

    def newest(self, *, that_changes: bool = False) -> Run | None:
        """Return the run that worked last, also if it began before others; None if there is none.

        Parameters
        ----------
        that_changes
            Only of a command that changes clusters. Default: of any.

        Raises
        ------
        UserError
            Its record, or that of a later run, cannot be read.
        """
        for file, run in self.all():
            if run is None:
                raise UserError(f"The record {file} cannot be read.", "Move its folder away.")
            if run.verb.is_change or not that_changes:
                return run
        return None

    def all(self) -> Iterator[tuple[Path, Run | None]]:
        """Yield the file of each run with the run, first the one that worked last; None if it cannot be read."""
        for file in self._files("*"):
            try:
                yield file, TypeAdapter(Run).validate_json(file.read_bytes())
            except (OSError, ValidationError):
                yield file, None

    def drop_old(self) -> None:
        """Delete all but the newest ``KEPT`` runs of each command: daily runs of `drift` keep those of `up`."""
        for verb in Verb:
            for file in self._files(f"*-{verb}")[KEPT:]:
                shutil.rmtree(file.parent, ignore_errors=True)

    def _files(self, folders: str) -> list[Path]:
        """Return the files of runs, last written first: a run writes its file whenever something begins or ends."""
        return sorted(self.place.glob(f"{folders}/{_FILE}"), key=lambda file: (_written(file), file), reverse=True)

    @contextmanager
    def alone(self) -> Iterator[int]:
        """Hold the lock of the folder's runs; yields its descriptor, which the run's processes inherit.

        Raises
        ------
        UserError
            Another run holds it, or processes that a killed run left and that still finish their step.
        """
        data_dir()  # refuses one that others can read
        self.place.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        if (lock := locks.take(self.place / _LOCK)) is None:
            pids = ", ".join(str(each.pid) for each in locks.holders(self.place / _LOCK)) or "of another user"
            raise UserError(
                f"Another run of `{APP} fleet` works on the stacks of {stacks.folder()} (process {pids}).",
                f"`{APP} fleet status` shows it. If it was killed, wait: its last processes finish their step.",
            )
        try:
            locks.write(lock, "")
            yield lock
        finally:
            os.close(lock)

    def begin(self, run: Run, lock: int) -> None:
        """Write the record of a run that begins or continues, and note in the lock that this run holds it."""
        self.save(run)
        locks.write(lock, run.id)

    def is_running(self, run: Run) -> bool:
        """Return whether a run is working now; one that still waits for an answer is not."""
        lock = self.place / _LOCK
        return lock.exists() and bool(locks.holders(lock)) and lock.read_text() == run.id


def _written(file: Path) -> int:
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:  # a run that has just begun deletes old ones
        return 0


def new(verb: Verb, *, waves: Sequence[str] = (), at_once: int = 0, hermetic: bool = False) -> Run:
    """Return a new run without entries."""
    now = time.time()
    name = f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S.%f}-{verb}"
    return Run(name, verb, tuple(waves), at_once, hermetic, release=version(APP), begun=now)


def inputs_of(file: Path, package: str, base: Path | None = None) -> str:
    """Return a fingerprint of what decides the result of a command on a stack.

    Parameters
    ----------
    file
        The stack's file.
    package
        Revision of this package; see ``revision``.
    base
        The base that the stack's file refines. Default: it has none.
    """
    overrides = stacks.folder() / policy_overrides.FILE
    digest = hashlib.sha256(package.encode())
    for each in filter(None, (file, base, overrides)):
        content = each.read_bytes() if each.exists() else b""
        digest.update(f"\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def revision(checkout: Path = PROJECT_ROOT) -> str:
    """Return the revision of this package: what is committed, changed and new of it, or what a wheel has installed.

    Stack files may be in the same checkout; they count for their own stacks only. A package that is neither in Git nor
    from a wheel has its version only.
    """
    if is_from_wheel():
        # https://packaging.python.org/en/latest/specifications/recording-installed-packages/: it has all files' hashes.
        parts = [version(APP), distribution(APP).read_text("RECORD") or ""]
    elif committed := git(checkout, "ls-tree", "HEAD", *DECIDES):
        changed = git(checkout, "diff", "HEAD", "--", *DECIDES) or ""
        listed = git(checkout, "ls-files", "--others", "--exclude-standard", "-z", "--", *DECIDES) or ""
        names = [name for name in listed.split("\0") if name]
        parts = [committed, changed, listed, (git(checkout, "hash-object", "--", *names) or "") if names else ""]
    else:
        parts = [version(APP)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def continued(run: Run, planned: Sequence[Entry], inputs: dict[str, str]) -> tuple[Run, list[str]]:
    """Return a run with what is planned now, without what has succeeded, and why something runs again or no longer.

    Parameters
    ----------
    run
        The run so far.
    planned
        New entries for everything that belongs to the run.
    inputs
        Fingerprint of each stack now.
    """
    before = {(each.verb, each.stack): each for each in run.entries}
    entries, reasons, again = list[Entry](), list[str](), set[str]()
    for entry in planned:
        now = inputs[entry.stack]
        kept = replace(before.get((entry.verb, entry.stack), entry), wave=entry.wave)
        if reason := _why_again(kept, now):
            reasons.append(f"{entry.stack}: {reason}; {entry.verb} runs again.")
        if kept.result is not Result.OK or kept.inputs != now or entry.stack in again:
            again.add(entry.stack)  # and with it what follows on the same stack
            kept.reset()
        entries.append(kept)
    planned_now = {(each.verb, each.stack) for each in planned}
    for key, entry in before.items():
        if key not in planned_now and entry.result is not Result.OK:
            reason = _why_again(entry, entry.inputs) or "has not run"
            why = f"{entry.verb} does not run, because no wave of this run includes it now"
            reasons.append(f"{entry.stack}: {reason}; {why}.")
    # With another release all of them run again, so each result is of this one.
    return replace(run, entries=entries, ended=0, release=version(APP)), reasons


def _why_again(entry: Entry, inputs: str) -> str:
    """Return why something runs again; empty if it holds, or has not run."""
    if entry.result is Result.OK:
        return "" if entry.inputs == inputs else "its stack file, its base, the overrides or this package changed"
    if entry.result is Result.RUNNING:
        return "was killed"
    return "" if entry.result is Result.WAITING else words(entry.verb, entry.result)
