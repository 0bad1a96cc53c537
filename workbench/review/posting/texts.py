"""Texts of the comment and the issue: a report in Markdown and its source."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from workbench.report import markdown
from workbench.report.markup import code
from workbench.report.model import Outcome, Report, Source
from workbench.report.record import CONTENTS, merged, read
from workbench.report.verdict import unreadable
from workbench.review.posting.comment import marker
from workbench.review.posting.workflow import Run
from workbench.system.errors import UserError

RECORDS_MAX: Final = 256
"""GitHub's limit of jobs in a matrix."""

_NAMES_MAX: Final = 5
_REMEDY: Final = (
    "What to do: `igz-clusters drift STACK` shows the drift, and `igz-clusters up STACK` reverts it. To keep a change, "
    "add it to the stack file. This issue closes automatically once a complete comparison finds no drift."
)


def comment(records: Path, run: Run, workflow_changes: Collection[str]) -> str:
    """Return the text of a pull request's comment.

    Parameters
    ----------
    records
        Artifacts of the run: a record, or a folder with several. Untrusted; may be missing.
    run
        The run that wrote them.
    workflow_changes
        Files of workflows that the pull request changes.
    """
    report = _of(records, run)
    said_by = f"\nFrom [the run]({run.address}) of `{run.workflow}` on commit `{run.commit[:12]}`.\n"
    warning = _warning(workflow_changes)
    return (
        warning + markdown.render(report, markdown.COMMENT_MAX - len(marker(run) + "\n" + warning + said_by)) + said_by
    )


def _of(records: Path, run: Run) -> Report:
    reports = [read(folder) for folder in _folders(records)]
    report = merged(reports)
    stacks = {stack.stack for stack in report.stacks}
    report = replace(report, skipped=tuple(name for name in report.skipped if name not in stacks))
    if not reports:
        problem = f"the run ended as '{run.conclusion}' without a record"
    elif run.conclusion != "success" and not report.outcome.exit_code:
        problem = f"the run ended as '{run.conclusion}', but its record contains no error"
    else:
        return report
    return replace(report, outcome=Outcome.UNJUDGED, problems=(*report.problems, problem))


def _folders(records: Path) -> list[Path]:
    """Return the folders of the records: GitHub's action creates one per artifact, unless there is only one."""
    if (records / CONTENTS).exists() or not records.is_dir():
        return [records] if records.is_dir() else []
    inside = sorted(each for each in records.iterdir() if each.is_dir() and not each.is_symlink())
    return inside[:RECORDS_MAX]


def drift(streams: Path, stacks: Iterable[str]) -> tuple[str, Report]:
    """Return the text of the issue, and its report.

    Parameters
    ----------
    streams
        Folder with the event stream of each stack, ``STACK.jsonl``.
    stacks
        Stacks to report on. One without a stream could not be compared.
    """
    report = merged(_drift_of(streams / f"{stack}.jsonl", stack) for stack in stacks)
    text = markdown.render(report, markdown.COMMENT_MAX - len(_REMEDY) - _MARKERS)
    return f"{text}\n{_REMEDY}\n", report


_MARKERS: Final = 100
"""Maximum characters of the issue's first line."""


def _drift_of(stream: Path, stack: str) -> Report:
    problem = "the comparison left no stream; see the log of its job"
    try:
        report = read(stream)
        if [(row.stack, row.source) for row in report.stacks] == [(stack, Source.DRIFT)]:
            return report
        problem = "its stream belongs to another stack or command"
    except UserError:
        pass
    row = unreadable(stack, Source.DRIFT, problem, "", "")
    return Report(row.outcome, (row,))


def _warning(workflow_changes: Collection[str]) -> str:
    if not workflow_changes:
        return ""
    names = ", ".join(code(name) for name in sorted(workflow_changes)[:_NAMES_MAX])
    rest = len(workflow_changes) - _NAMES_MAX
    more = f" and {rest} more" if rest > 0 else ""
    return (
        f"> **This pull request changes the workflows themselves: {names}{more}.** GitHub runs its own version of "
        "them, so the report below cannot be trusted. Their owners must review that change first.\n\n"
    )
