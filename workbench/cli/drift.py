"""`igz-clusters drift`: what was changed behind Pulumi's back."""

from pathlib import Path
from typing import Annotated

import typer

from workbench import stacks
from workbench.cli.console import errors, out
from workbench.cli.recover import Hermetic
from workbench.cli.stack import AsJson, Events
from workbench.engine import INTERRUPTED
from workbench.report import as_json as json_report
from workbench.report import events as event_stream
from workbench.report import terminal
from workbench.report.model import Outcome, Report, Source, StackReport, gravest
from workbench.report.verdict import Case, judge, unreadable
from workbench.review.drift import compared, tools_for
from workbench.system.errors import UserError
from workbench.system.files import write_private
from workbench.system.paths import unusable
from workbench.toolchain import ensure
from workbench.toolchain.console import progress


def drift(
    names: Annotated[list[str], typer.Argument(help="Stacks, as for `up`.", metavar="STACK...")],
    *,
    as_json: AsJson = False,
    events: Events = None,
    hermetic: Hermetic = False,
) -> None:
    """Report what was changed behind Pulumi's back. Writes nothing: no state, no stack file, no lock.

    Compares the state of stacks with what is live. Sizes of elastic node groups are the autoscaler's and no drift.
    Exit code 0 without drift, 1 with drift, 3 if a stack could not be compared; docs/drift.md says what to do.
    """
    if events and len(names) > 1:
        # Not as a user's other mistakes end: to a script 1 means drift.
        raise typer.BadParameter(f"it takes the event stream of one of {', '.join(names)}", param_hint="--events")
    found = tuple(_report(name, events=events, hermetic=hermetic) for name in sorted(set(names)))
    report = Report(gravest(stack.outcome for stack in found), found)
    if as_json:
        out.print(json_report.render(report), end="", markup=False, highlight=False, soft_wrap=True)
    else:
        terminal.show(report, out)
    raise typer.Exit(report.outcome.exit_code)


def _report(name: str, *, events: Path | None, hermetic: bool) -> StackReport:
    """Compare a stack; whatever stands in the way is no drift, and so no error of the command either."""
    try:
        return _compared(stacks.find(name), events, hermetic=hermetic)
    except UserError as error:
        return _not_compared(name, str(error))
    except OSError as error:
        if not error.filename:
            raise
        return _not_compared(name, str(unusable(error)))


def _compared(stack: stacks.Stack, events: Path | None, *, hermetic: bool) -> StackReport:
    with progress(errors) as report:
        toolchain = ensure(tools_for(stack), hermetic=hermetic, progress=report)
    with errors.status(f"comparing '{stack.name}' with what is live"):
        run = compared(stack, toolchain)
    if run.code == INTERRUPTED:
        raise typer.Exit(INTERRUPTED)
    if events:
        write_private(events, run.events)
    if not run.events:
        return _not_compared(stack.name, f"The engine said: {run.display}")
    case = Case(stack.name, Source.DRIFT, event_stream.read(run.events))
    found = judge(case)
    if run.code and found.outcome is not Outcome.UNJUDGED:
        return _not_compared(stack.name, f"The engine ended with exit code {run.code}: {run.display}")
    return found


def _not_compared(name: str, problem: str) -> StackReport:
    return unreadable(name, Source.DRIFT, " ".join(problem.split()))
