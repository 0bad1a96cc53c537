"""`igz-clusters drift`: report changes made outside Pulumi."""

from pathlib import Path
from typing import Annotated

import typer

from workbench import stacks
from workbench.cli.console import PLAIN, errors, out
from workbench.cli.options import AsJson, Events, Hermetic
from workbench.cli.verdicts import errors_are_no_verdict
from workbench.engine import INTERRUPTED
from workbench.report import as_json as json_report
from workbench.report import events as event_stream
from workbench.report import terminal
from workbench.report.model import Outcome, Report, Source, StackReport, most_severe
from workbench.report.verdict import Case, judge, unreadable
from workbench.review.drift import compared, tools_for
from workbench.stacks import stack_ownership
from workbench.system.errors import NoVerdictError, UserError
from workbench.system.files import write_private
from workbench.toolchain import ensure
from workbench.toolchain.console import progress


@errors_are_no_verdict()
def drift(
    names: Annotated[list[str], typer.Argument(help="Stacks, as for `up`.", metavar="STACK...")],
    *,
    as_json: AsJson = False,
    events: Events = None,
    hermetic: Hermetic = False,
) -> None:
    """Report changes made outside Pulumi.

    Compares the state of stacks with the live resources and writes nothing: no state, no stack file, no lock. The
    autoscaler sets the sizes of elastic node groups, so they do not count as drift. Exit code 0: no drift, 1: drift,
    3: a stack could not be compared; docs/drift.md explains what to do.
    """
    if events and len(names) > 1:
        # Exit code 2, not 1 as for other mistakes: to a script 1 means drift.
        raise typer.BadParameter(
            f"takes the event stream of one stack: one of {', '.join(names)}", param_hint="--events"
        )
    known = stacks.stack_files()
    for name in names:
        if name not in known:
            raise typer.BadParameter(_unknown(name), param_hint="STACK")
    found = tuple(report_on(name, events=events, hermetic=hermetic) for name in sorted(set(names)))
    report = Report(most_severe(stack.outcome for stack in found), found)
    if as_json:
        out.print(json_report.render(report), end="", markup=False, highlight=False, soft_wrap=True)
    else:
        terminal.show(report, out)
    raise typer.Exit(report.outcome.exit_code)


def _unknown(name: str) -> str:
    """Return the error for an unknown stack, with the known ones."""
    try:
        stacks.find(name)
    except UserError as error:
        return str(error)
    raise AssertionError("the stack is known")


def report_on(name: str, *, events: Path | None = None, hermetic: bool) -> StackReport:
    """Return the report on a stack, also if it cannot be compared.

    Parameters
    ----------
    name
        Name of the stack.
    events
        Where to write the event stream. Default: nowhere.
    hermetic
        Use the pinned engine even if ``pulumi`` is on PATH.
    """
    try:
        with errors_are_no_verdict():
            return _compared(stacks.find(name), events, hermetic=hermetic)
    except NoVerdictError as error:
        return _not_compared(name, str(error))


def _compared(stack: stacks.Stack, events: Path | None, *, hermetic: bool) -> StackReport:
    if stack.is_local and (note := stack_ownership.check(stack)):
        errors.print(f"note: {note}", **PLAIN)
    with progress(errors) as report:
        toolchain = ensure(tools_for(stack), hermetic=hermetic, progress=report)
    with errors.status(f"comparing '{stack.name}' with the live resources"):
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
