"""Reads the record of a review or a bare event stream into a report.

A record comes from a job that ran the change's own code and is untrusted: links are not followed, files outside are not
opened, sizes are bounded, and invalid content makes the report ``unjudged``.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from components.contract.labels import is_dns_label
from components.contract.policy_guard import PolicyGuard
from policies.waivers import Accepted, Approval, Waiver
from workbench.report import events
from workbench.report.changes import is_drift
from workbench.report.events import RENDERED, Stream
from workbench.report.findings import TEXT_LENGTH
from workbench.report.model import JudgeChange, Outcome, Report, Source, StackReport, most_severe
from workbench.report.rehearsed import Rehearsal
from workbench.report.values import safe
from workbench.report.verdict import Approvals, Case, broken, judge, unreadable
from workbench.system.errors import UserError

CONTENTS: Final = "review.json"
STACKS: Final = "stacks"
PLAN: Final = "plan.jsonl"
"""Event stream of the head's program with the head's packs and rows."""

JUDGED: Final = "judged.jsonl"
"""Event stream of the head's program with the base branch's packs and rows."""

CONTENTS_MAX: Final = 4_000_000
"""Maximum bytes of the contents file."""

_SHORT: Final = 12
"""Characters of a commit id that are shown."""

_StackName = Annotated[str, StringConstraints(pattern=r"^[^/\x00]{1,250}$")]
"""A stack's name from a file name; an invalid one is a problem of that stack only."""

_Row = TypeVar("_Row", bound=Accepted)

_Text = Annotated[str, StringConstraints(max_length=10_000)]
_Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{0,64}$")]


class _Payload(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Stack(_Payload):
    environment: Literal["dev", "prod", ""] = ""
    kind: Annotated[str, StringConstraints(pattern=r"^[a-z]{0,20}$")] = ""
    guard: PolicyGuard | None = None
    problems: Annotated[list[_Text], Field(max_length=1_000)] = []


class _JudgeRow(_Payload):
    file: _Text
    what: _Text


class _Approvals(_Payload):
    base: Annotated[list[Approval], Field(max_length=1_000)] = []
    head: Annotated[list[Approval], Field(max_length=1_000)] = []


class Contents(_Payload):
    """The contents file that ``igz-clusters review`` writes."""

    format: Literal[1]
    base: _Commit = ""
    head: _Commit = ""
    compared: bool
    stacks: Annotated[dict[_StackName, _Stack], Field(max_length=500)]
    skipped: Annotated[list[_StackName], Field(max_length=500)] = []
    judge: Annotated[list[_JudgeRow], Field(max_length=2_000)] = []
    approvals: _Approvals = _Approvals()
    new_waivers: Annotated[list[Waiver], Field(max_length=1_000, alias="newWaivers")] = []
    rehearsals: Annotated[
        dict[_StackName, Annotated[list[Rehearsal], Field(max_length=100)]], Field(max_length=500)
    ] = {}


class _UnfitError(Exception):
    """A record has invalid content."""


def read(path: Path, approvals: Iterable[Approval] = ()) -> Report:
    """Return the report of a record's folder, or of an event stream's file.

    Parameters
    ----------
    path
        Folder or file.
    approvals
        Approvals for a bare event stream; a record contains its own.

    Raises
    ------
    UserError
        The path does not exist or cannot be read. Invalid content yields an ``unjudged`` report instead.
    """
    try:
        if path.is_dir():
            with _opened(path) as folder:
                return _record(folder)
        with path.open("rb") as file:
            content = file.read(events.SIZE_MAX + 1)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}.", _EXPECTED) from None
    return _of_stream(path, events.read(content), list(approvals))


_EXPECTED: Final = "Give the folder of a record that `igz-clusters review` wrote, or a file that `--events` wrote."


def merged(reports: Iterable[Report]) -> Report:
    """Return several reports merged into one; keeps a commit only if it is the same in all."""
    found = list(reports)
    stacks = sorted((stack for report in found for stack in report.stacks), key=lambda stack: stack.stack)
    bases, heads = {report.base for report in found}, {report.head for report in found}
    return Report(
        outcome=most_severe(report.outcome for report in found),
        stacks=tuple(stacks),
        judge=tuple(sorted({change for report in found for change in report.judge})),
        skipped=tuple(sorted({name for report in found for name in report.skipped})),
        base=bases.pop() if len(bases) == 1 else "",
        head=heads.pop() if len(heads) == 1 else "",
        problems=tuple(problem for report in found for problem in report.problems),
    )


def _of_stream(path: Path, stream: Stream, approvals: list[Approval]) -> Report:
    names = {step.stack for step in (*stream.steps, *stream.results)}
    name = min(names, default="") or path.name.partition(".")[0]
    case = Case(name, source_of(stream), stream, approvals=Approvals(_held(approvals)))
    stack = judge(case)
    return Report(stack.outcome, (stack,))


def source_of(stream: Stream) -> Source:
    """Return what the program was compared with, from the stream."""
    if is_drift(stream):
        return Source.DRIFT
    if RENDERED in stream.config:
        return Source.RENDERED
    return Source.DONE if stream.summary and not stream.summary.is_preview else Source.COMPARED


def _record(folder: int) -> Report:
    try:
        contents = Contents.model_validate_json(_content(folder, CONTENTS, CONTENTS_MAX))
    except _UnfitError as problem:
        return Report(Outcome.UNJUDGED, (), problems=(f"the record cannot be read: {problem}",))
    except ValidationError as error:
        places = sorted({".".join(map(str, each["loc"][:4])) or "all of it" for each in error.errors()[:5]})
        wrong = safe(f"{CONTENTS} is invalid: check {', '.join(places)}", TEXT_LENGTH)
        return Report(Outcome.UNJUDGED, (), problems=(f"the record cannot be read: {wrong}",))
    changed = tuple(sorted({JudgeChange(safe(row.file), safe(row.what, TEXT_LENGTH)) for row in contents.judge}))
    stacks = tuple(_stack(folder, name, contents) for name in sorted(contents.stacks))
    return Report(
        outcome=most_severe([*(stack.outcome for stack in stacks), *([Outcome.REVIEW] if changed else [])]),
        stacks=stacks,
        judge=changed,
        skipped=tuple(sorted(map(safe, set(contents.skipped) - set(contents.stacks)))),
        base=contents.base[:_SHORT],
        head=contents.head[:_SHORT],
    )


def _stack(folder: int, name: str, contents: Contents) -> StackReport:
    row, source = contents.stacks[name], Source.COMPARED if contents.compared else Source.RENDERED
    if row.problems:
        return broken(name, source, row.problems, row.environment, row.kind)
    if not is_dns_label(name):
        return unreadable(name, source, "not a valid stack name", row.environment, row.kind)
    try:
        plan, judged = (
            events.read(_content(folder, f"{STACKS}/{name}/{file}", events.SIZE_MAX)) for file in (PLAN, JUDGED)
        )
    except _UnfitError as problem:
        return unreadable(name, source, str(problem), row.environment, row.kind)
    approvals = Approvals(_held(contents.approvals.base), _held(contents.approvals.head))
    waivers = _held(contents.new_waivers)
    rehearsals = contents.rehearsals.get(name, [])
    return judge(Case(name, source, plan, judged, row.environment, row.kind, row.guard, approvals, waivers, rehearsals))


def _held(rows: Iterable[_Row]) -> list[_Row]:
    """Return the rows whose expiry date is within the limit."""
    return [row for row in rows if row.expires <= row.last_day()]


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _content(folder: int, path: str, limit: int) -> bytes:
    """Return a file's content; no component of its path may be a symbolic link."""
    *parents, name = path.split("/")
    opened = list[int]()
    try:
        for parent in parents:
            here = opened[-1] if opened else folder
            opened.append(os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here))
        here = opened[-1] if opened else folder
        # Do not block on a pipe.
        opened.append(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here))
        facts = os.fstat(opened[-1])
        if not stat.S_ISREG(facts.st_mode):
            raise _UnfitError(f"{path} is not a file")
        if facts.st_size > limit:
            raise _UnfitError(f"{path} has {facts.st_size:,} bytes; the limit is {limit:,}")
        with os.fdopen(os.dup(opened[-1]), "rb") as file:
            return file.read(limit)
    except FileNotFoundError:
        raise _UnfitError(f"{path} is missing") from None
    except OSError as error:
        raise _UnfitError(f"{path} cannot be read: {error.strerror}") from None
    finally:
        for descriptor in opened:
            os.close(descriptor)
