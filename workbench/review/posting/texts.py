"""What is posted: a report in Markdown, and who says so."""

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
"""Jobs of a matrix, the most that GitHub runs."""

_NAMES_MAX: Final = 5
_REMEDY: Final = (
    "What to do about it: `igz-clusters drift STACK` shows the same, `igz-clusters up STACK` undoes what changed "
    "behind Pulumi's back, and a change of the stack file keeps it. This issue closes itself."
)


def comment(records: Path, run: Run, workflow_changes: Collection[str]) -> str:
    """Return the text of a pull request's comment.

    Parameters
    ----------
    records
        What the run left: a record, or a folder with several. They are a stranger's; there may be none.
    run
        The run that left it.
    workflow_changes
        Files of workflows that the pull request changes.
    """
    report = _of(records, run)
    said_by = f"\nBy [the run]({run.address}) of `{run.workflow}` on commit `{run.commit[:12]}`.\n"
    warning = _warning(workflow_changes)
    return (
        warning + markdown.render(report, markdown.COMMENT_MAX - len(marker(run) + "\n" + warning + said_by)) + said_by
    )


def _of(records: Path, run: Run) -> Report:
    found = [read(folder) for folder in _folders(records)]
    report = merged(found)
    stacks = {stack.stack for stack in report.stacks}
    report = replace(report, skipped=tuple(name for name in report.skipped if name not in stacks))
    if not found:
        problem = f"the run ended as '{run.conclusion}' and left no record"
    elif run.conclusion != "success" and not report.outcome.exit_code:
        problem = f"the run ended as '{run.conclusion}', and what it left does not say why"
    else:
        return report
    return replace(report, outcome=Outcome.UNJUDGED, problems=(*report.problems, problem))


def _folders(records: Path) -> list[Path]:
    """Return the folders of the records: GitHub's action gives each artifact one, unless there is only one."""
    if (records / CONTENTS).exists() or not records.is_dir():
        return [records] if records.is_dir() else []
    inside = sorted(each for each in records.iterdir() if each.is_dir() and not each.is_symlink())
    return inside[:RECORDS_MAX]


def drift(streams: Path, stacks: Iterable[str]) -> tuple[str, bool]:
    """Return the text of the issue, and whether there is anything to tell.

    Parameters
    ----------
    streams
        Folder with the event stream of each stack, ``STACK.jsonl``.
    stacks
        Stacks that were to be looked at. One that left no stream could not be judged.
    """
    report = merged(_drift_of(streams / f"{stack}.jsonl", stack) for stack in stacks)
    text = markdown.render(report, markdown.COMMENT_MAX - len(_REMEDY) - _MARKERS)
    return f"{text}\n{_REMEDY}\n", report.outcome is not Outcome.PASSED


_MARKERS: Final = 100
"""Characters that the first line of the issue takes, at most."""


def _drift_of(stream: Path, stack: str) -> Report:
    problem = "the look at it left nothing: its job says why"
    try:
        report = read(stream)
        if [(row.stack, row.source) for row in report.stacks] == [(stack, Source.DRIFT)]:
            return report
        problem = "what its job left is of another stack or command"
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
        "them, so the report below may be made up. Their owners read that change first.\n\n"
    )
