"""Runs of the engine: its own display on a terminal, and a summary everywhere."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Final

import typer

from workbench.cli.console import INTERRUPTED, PLAIN, errors, out
from workbench.engine import Session, pending
from workbench.engine.cloud import deployment_of
from workbench.report import events, terminal
from workbench.report.events import Stream
from workbench.report.model import Outcome
from workbench.report.record import source_of
from workbench.report.verdict import Approvals, Case, judge
from workbench.system import temporary
from workbench.system.background import repeating
from workbench.system.errors import UserError

VERBOSE_VARIABLE: Final = "IGZ_CLUSTERS_VERBOSE"
"""Set by ``--verbose``."""

HEARTBEAT: Final = 30.0
"""Seconds between two lines that say that the engine is still running."""

_DISPLAY_MAX: Final = 4_000
"""Number of characters quoted from the end of the engine's display if the event stream lacks the failure."""

_WHOLE: Final = ("--json", "--diff")
"""Options that ask for the engine's own output."""


def _keep(is_verbose: bool | None) -> None:  # noqa: FBT001 the shape of a callback
    if is_verbose:
        os.environ[VERBOSE_VARIABLE] = "1"


Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", callback=_keep, help="Without a terminal: print the engine's output, not a summary."
    ),
]


def run(session: Session, command: str, *options: str, events_file: Path | None = None) -> tuple[int, Stream]:
    """Run the engine, show what it does, and return its exit code and its event stream.

    On a terminal the engine's own display comes first and a summary follows. Without a terminal there is the summary
    alone, unless ``--verbose``, or an option such as ``--json``, asks for the engine's output.

    Parameters
    ----------
    session
        A session on the stack.
    command, options
        The engine's command.
    events_file
        Where to keep the event stream. Default: nowhere.
    """
    is_whole = bool(os.environ.get(VERBOSE_VARIABLE)) or not set(_WHOLE).isdisjoint(options)
    with temporary.folder("run") as (folder, _):
        file, display = events_file or Path(folder, "events.jsonl"), Path(folder, "display")
        if is_whole or out.is_terminal:
            code = session.run(command, *options, events=file)
        else:
            with display.open("wb") as written, _heartbeat(command):
                code = session.run(command, *options, "--non-interactive", events=file, display=written)
        content = file.read_bytes() if file.exists() else b""
        if out.is_terminal and "--json" not in options:
            out.print()
        if (out.is_terminal and "--json" not in options) or not is_whole:
            said = display.read_text(errors="replace") if display.exists() else ""
            summarise(session, command, code, events.read(last_run(content)), said)
        return code, events.read(content)


def summarise(session: Session, command: str, code: int, stream: Stream, display: str) -> None:
    """Print what a run did or plans, and the end of the engine's display if the event stream lacks the failure.

    Parameters
    ----------
    session
        The session of the run.
    command
        The engine's: ``preview``, ``up``, ``destroy``.
    code
        The exit code.
    stream
        The event stream of one run.
    display
        What the engine displayed.
    """
    is_planned = bool(stream.steps or stream.errors)
    if is_planned:
        _show(session, command, code, stream)
    is_explained = is_planned and (code in (0, INTERRUPTED) or _says_why(stream))
    if not is_explained and display:
        errors.print(display[-_DISPLAY_MAX:].strip(), **PLAIN)


def _says_why(stream: Stream) -> bool:
    """Return whether a failed run's stream holds the cause: not if saving the state failed or the engine crashed."""
    is_refused = any(each.enforcement_level == "mandatory" for each in stream.said)
    return bool(stream.errors or is_refused) and not stream.invalid_lines


def _show(session: Session, command: str, code: int, stream: Stream) -> None:
    approvals = Approvals(session.inputs.overrides.approvals)
    report = judge(Case(session.stack.name, source_of(stream), stream, approvals=approvals))
    if code == INTERRUPTED:
        headline = "stopped"
    elif command == "preview":
        headline = _PLANS[report.outcome] if not code else "blocked"
    else:
        headline = f"{command} failed" if code else f"{command} done"
    terminal.show_run(report, out, headline, is_good=not code and (command != "preview" or report.outcome in _GOOD))
    for text in stream.warnings:
        errors.print(f"warning: {text}", **PLAIN)


_PLANS: Final = {
    Outcome.PASSED: "plan passed",
    Outcome.REVIEW: "plan needs review",
    Outcome.BLOCKED: "`up` would be refused",
    Outcome.UNJUDGED: "plan could not be judged",
}
_GOOD: Final = (Outcome.PASSED, Outcome.REVIEW)


def last_run(content: bytes) -> bytes:
    """Return the last run of a stream, numbered from 0: an update writes its plan before it."""
    lines = content.splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if b'"cancelEvent"' in line[:200]]
    return b"".join(lines[ends[-2] + 1 :]) if len(ends) > 1 else content


@contextmanager
def _heartbeat(command: str) -> Iterator[None]:
    """Print a line periodically while the engine runs; otherwise its log looks like that of a hung run."""
    begin = time.monotonic()

    def beat() -> None:
        errors.print(f"{command}: still running after {time.monotonic() - begin:.0f} s.", **PLAIN)

    with repeating(HEARTBEAT, beat):
        yield


def say_stopped(session: Session) -> None:
    """Print how an interrupted change in a cloud continues; the next run refuses what an aborted step leaves."""
    aborted = list[str]()
    with suppress(UserError):  # the backend does not answer
        aborted = pending.operations(deployment_of(session))
    if aborted:
        way = f"`igz-clusters recover {session.stack.name}` checks the outcome and repairs the state"
        errors.print(f"Aborted during: {', '.join(aborted)}. {way}.", style="bold", **PLAIN)
    else:
        errors.print("Stopped. Completed work is saved; the same command continues.", style="bold", **PLAIN)
