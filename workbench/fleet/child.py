"""A command on a stack as a process of this command line, so that all of its checks, locks and repairs apply.

The process has its own process group, so a terminal's Ctrl-C reaches it only through this program, once. If this
program is killed, the process is asked to end.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from infra.config.problems import printable
from workbench.engine import INTERRUPTED
from workbench.fleet.record import Entry
from workbench.fleet.verb import Verb
from workbench.report import events, terminal
from workbench.report.words import count
from workbench.stacks import folder
from workbench.system.errors import NoVerdictError, UserError
from workbench.system.paths import APP, FOLDER_VARIABLE
from workbench.system.processes import asked_to_end_with_this

_LOG_MAX: Final = 200_000
"""Bytes at the end of a log in which the cause of a failure is searched."""

_PROBLEM_MAX: Final = 300
_ERROR: Final = "error: "
"""Start of the message with which a failed command ends."""

GUARDED: Final = "--require-approvals"
"""Requires approvals even if policyGuard is ``warn``: in a fleet no user sees the plans and their warnings."""

_OPTIONS: Final[Mapping[Verb, tuple[str, ...]]] = {
    Verb.PREVIEW: (GUARDED,),
    Verb.UP: ("--yes", GUARDED),
    Verb.DRIFT: ("--json",),
    Verb.VERIFY: ("--json",),
    Verb.ACCEPT: ("--yes", "--json"),
}
_WITH_EVENTS: Final = (Verb.PREVIEW, Verb.UP)


def this_program() -> list[str]:
    """Return the command that started this program, without its arguments."""
    return sys.orig_argv[: len(sys.orig_argv) - len(sys.argv[1:])]


@dataclass(frozen=True)
class Files:
    """Files of a command on a stack."""

    place: Path
    entry: Entry

    @property
    def log(self) -> Path:
        """Messages, and all other output of commands that print no JSON."""
        return self._named("log")

    @property
    def results(self) -> Path:
        """Output of commands that print JSON."""
        return self._named("json")

    @property
    def events(self) -> Path:
        """The engine's event stream; deleted after the run, since it is large."""
        return self._named("jsonl")

    def _named(self, suffix: str) -> Path:
        return self.place / f"{self.entry.stack}-{self.entry.verb}.{suffix}"


def commands(entry: Entry, files: Files, *, hermetic: bool) -> list[list[str]]:
    """Return the arguments of the commands that an entry runs one after the other.

    A stack on which `up` was killed is repaired first: `up` refuses a damaged one.
    """
    common = [entry.stack, *(["--hermetic"] if hermetic else [])]
    stream = ["--events", str(files.events)] if entry.verb in _WITH_EVENTS else []
    wanted = [entry.verb.value, *common, *_OPTIONS[entry.verb], *stream]
    repair = ["recover", *common, "--yes"]
    return [repair, wanted] if entry.needs_repair and entry.verb is Verb.UP else [wanted]


@dataclass
class Process:
    """Commands on a stack, each as a process after the one before.

    Parameters
    ----------
    entry
        What runs.
    files
        Where its output goes.
    program
        The command line; see ``this_program``.
    lock
        Descriptor of the lock that the process inherits: the lock is held until it has ended.
    hermetic
        Passed on to it.
    """

    entry: Entry
    files: Files
    program: Sequence[str]
    lock: int
    hermetic: bool = False
    _closing: ExitStack = field(default_factory=ExitStack, repr=False)

    def __post_init__(self) -> None:
        self.files.place.mkdir(parents=True, exist_ok=True)
        for file in (self.files.log, self.files.results):
            file.unlink(missing_ok=True)
        self._problem, self._is_asked = "", False
        self._left = commands(self.entry, self.files, hermetic=self.hermetic)
        self._process = self._next()

    def poll(self) -> int | None:
        """Return the exit code of the first command that fails, or of the last; None as long as they run.

        For a comparison that ended well but left something out, since the cluster sleeps, that is the code of no
        verdict: a verification of nothing must not let the next wave begin.
        """
        if not self._process:
            return (NoVerdictError if self.entry.verb.is_comparison else UserError).exit_code
        if (code := self._process.poll()) is None:
            return None
        self._closing.close()
        if self._left and not code:
            if self._is_asked:
                return INTERRUPTED
            self._process = self._next()
            return None
        unjudged = "" if code else why_unjudged(self.files)
        self._problem = first_problem(self.files) if code else unjudged
        self.files.events.unlink(missing_ok=True)
        return NoVerdictError.exit_code if unjudged else code

    def interrupt(self) -> None:
        """Ask the process to end, as Ctrl-C does; no further command is started."""
        self._is_asked = True
        if self._process:
            self._process.send_signal(signal.SIGINT)

    def problem(self) -> str:
        """Return the first reported problem, as one line; empty if there is none."""
        return self._problem

    def _next(self) -> subprocess.Popen[bytes] | None:
        """Start the next command and return its process; None if it cannot start, as when the program is missing."""
        arguments = self._left.pop(0)
        try:
            return self._started(arguments)
        except OSError as error:
            self._closing.close()
            self._problem = f"`{APP} {arguments[0]}` cannot be started: {error.strerror}."
            return None

    def _started(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        is_json = "--json" in arguments
        with ExitStack() as opened:
            log = opened.enter_context(self.files.log.open("ab"))
            results = opened.enter_context(self.files.results.open("wb")) if is_json else log
            return subprocess.Popen(
                [*self.program, *arguments],
                env={**os.environ, FOLDER_VARIABLE: str(folder())},
                stdin=subprocess.DEVNULL,
                stdout=results,
                stderr=log,
                pass_fds=(self.lock,),
                process_group=0,
                preexec_fn=self._closing.enter_context(asked_to_end_with_this()),  # noqa: PLW1509 - one system call
            )


def first_problem(files: Files) -> str:
    """Return the first problem that a failed command reported, as one line of bounded length."""
    log = _end_of(files.log)
    found = _in_results(files, _SAID) or _message(log) or _in_events(files.events) or _listed(log) or "".join(log[-1:])
    return printable(" ".join(found.split()), _PROBLEM_MAX)


def why_unjudged(files: Files) -> str:
    """Return what a comparison that ended well left out; empty if nothing, and for other commands."""
    return _in_results(files, _LEFT_OUT)


def _end_of(file: Path) -> list[str]:
    if not file.exists():
        return []
    text = file.read_bytes()[-_LOG_MAX:].decode(errors="replace")
    return [line for line in text.splitlines() if line.strip()]


def _message(log: Sequence[str]) -> str:
    """Return the message that ended the command, with the first item of a list that it introduces."""
    for index in reversed(range(len(log))):
        if log[index].startswith(_ERROR):
            text = log[index].removeprefix(_ERROR)
            return " ".join([text, *log[index + 1 : index + 2]]) if text.endswith(":") else text
    return ""


def _listed(log: Sequence[str]) -> str:
    """Return the first problem of the last run of the engine that lists any: a plan, and runs before the update.

    The event stream is that of the update alone.
    """
    lists = [index for index, line in enumerate(log[:-1], 1) if line == terminal.PROBLEMS]
    return log[lists[-1]] if lists else ""


def _in_events(file: Path) -> str:
    if not file.exists():
        return ""
    stream = events.read(file.read_bytes())
    violated = [f"{each.policy_name}: {each.message}" for each in stream.said if each.enforcement_level == "mandatory"]
    return next(iter([*stream.own_errors, *violated, *stream.errors]), "")


_Reader: TypeAlias = Callable[[Mapping[str, Any]], str]


def _in_results(files: Files, readers: Mapping[Verb, _Reader]) -> str:
    """Return what the reader for its command finds in the results; empty without a reader or readable results."""
    try:
        return readers[files.entry.verb](json.loads(files.results.read_bytes()))
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _drift(results: Mapping[str, Any]) -> str:
    stack = results["stacks"][0]
    changes = [f"{each['operation']} {each['type']} {each['name']}" for each in stack["changes"]]
    listed = [f"{count(len(changes), 'change')}, first: {changes[0]}"] if changes else []
    return str([*stack["problems"], *listed, *stack["reasons"]][0])


def _verify(results: Mapping[str, Any]) -> str:
    found = [each for check in results["checks"] for each in check["deviations"]]
    return f"{count(len(found), 'deviation')}, first: {found[0]['where']}: {found[0]['problem']}"


def _unverified(results: Mapping[str, Any]) -> str:
    return "" if results["checks"] else " ".join(results["notes"]) or "Nothing was verified."


def _not_compared(results: Mapping[str, Any]) -> str:
    return " ".join(results["stacks"][0]["notes"])


_SAID: Final[Mapping[Verb, _Reader]] = {Verb.DRIFT: _drift, Verb.VERIFY: _verify}
_LEFT_OUT: Final[Mapping[Verb, _Reader]] = {Verb.DRIFT: _not_compared, Verb.VERIFY: _unverified}
