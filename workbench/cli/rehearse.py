"""`igz-clusters rehearse`: simulated work on the simulated cluster of a stack file."""

import tempfile
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from workbench.cli import rehearsal_output as output
from workbench.cli.console import FAILED, errors
from workbench.cli.options import AsJson
from workbench.cli.rehearsal_progress import watching
from workbench.cli.rehearsal_tasks import Asked, tasks_of
from workbench.local.programs import KARPENTER
from workbench.rehearsal.outcome import deciding
from workbench.rehearsal.rehearse import Played, Rehearser, rehearse_all
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.settings import NODE_START, SPEED
from workbench.system.errors import NoVerdictError, UserError
from workbench.system.paths import data_dir, unusable
from workbench.toolchain import Toolchain, ensure
from workbench.toolchain.api import names as toolchain_names
from workbench.toolchain.console import progress

AT_ONCE: Final = 2
"""Clusters at the same time, by default; in a duel one, so that none slows another down."""

NODE_START_TEXT: Final = duration_text(NODE_START)

BUDGET: Final = 6
"""Rehearsals that a search for advice may take, by default."""


def _option(name: str, help: str, metavar: str = "FILE") -> Any:  # noqa: A002 Typer's own name
    return typer.Option(name, metavar=metavar, help=help)


Names = Annotated[list[str] | None, typer.Argument(metavar="[STACK]...", help="Stacks. Default: local.")]
Scenarios = Annotated[
    list[str] | None, _option("--scenario", "A shipped scenario or a file; repeat for more. Default: all.", "NAME")
]
Replay = Annotated[
    Path | None, _option("--replay", "Play what happened elsewhere: an audit log, pods, events or MLRun's runs.")
]
Begin = Annotated[str | None, _option("--from", "Replay only what happened from TIME on.", "TIME")]
End = Annotated[str | None, _option("--to", "Replay only what happened before TIME.", "TIME")]
WriteScenario = Annotated[
    Path | None, _option("--write-scenario", "Write the scenario of --replay to FILE, and play nothing.")
]
Speed = Annotated[
    float | None,
    _option("--speed", f"Seconds of the scenario in a real second. Default: the scenario's own, {SPEED:.0f}.", "N"),
]
NodeStart = Annotated[str, _option("--node-start", "Time until a new node is ready.", "TIME")]
AtOnce = Annotated[
    int | None,
    typer.Option("--at-once", min=1, max=8, help=f"Clusters at the same time. Default: {AT_ONCE}, in a duel 1."),
]
Duel = Annotated[bool, typer.Option("--duel", help="Also play with Karpenter in place of Cluster Autoscaler.")]
Compare = Annotated[
    str | None, _option("--compare", "Also play on another stack, or on an earlier commit.", "STACK|REV")
]
Advise = Annotated[bool, typer.Option("--advise", help="Search for a small change that meets the missed expectations.")]
Budget = Annotated[
    int, typer.Option("--budget", min=1, max=100, help="Rehearsals that the search may take, for each scenario.")
]
Patch = Annotated[
    Path | None, _option("--patch", "Write the change that --advise finds to FILE, for `git apply`; empty if none.")
]
Output = Annotated[Path | None, _option("--output", "Write a page with all results to FILE.")]
List = Annotated[bool, typer.Option("--list", help="List the shipped scenarios.")]


def rehearse(  # noqa: PLR0913 one parameter for each option
    names: Names = None,
    *,
    scenario: Scenarios = None,
    replay: Replay = None,
    begin: Begin = None,
    end: End = None,
    write_scenario: WriteScenario = None,
    speed: Speed = None,
    node_start: NodeStart = NODE_START_TEXT,
    at_once: AtOnce = None,
    compare: Compare = None,
    duel: Duel = False,
    want_advice: Advise = False,
    budget: Budget = BUDGET,
    patch: Patch = None,
    page: Output = None,
    list_: List = False,
    as_json: AsJson = False,
) -> None:
    """Show how work will run on a stack, and what it costs, before the cluster exists.

    For example: igz-clusters rehearse dev --scenario spot-reclaim --output report.html

    Builds the stack's nodes as simulated ones on a control plane of its own, with the real scheduler and autoscaler,
    plays the scenarios in compressed time, and judges what the API server recorded. Needs no account and no cluster,
    and leaves nothing. Exit code 1: an expectation was missed or a stack is refused, 3: a scenario has no verdict.
    docs/rehearsal.md explains scenarios and reports.
    """
    if list_:
        output.list_scenarios(as_json=as_json)
        return
    asked = Asked(
        stacks=tuple(dict.fromkeys(names or ["local"])),
        scenarios=tuple(dict.fromkeys(scenario or ())),
        replay=replay,
        begin=begin,
        end=end,
        write_scenario=write_scenario,
        speed=speed,
        node_start=node_start,
        compare=compare,
        duel=duel,
        at_once=at_once,
        page=page,
        patch=patch,
        want_advice=want_advice,
    )
    tasks, book = tasks_of(asked)
    if not tasks:
        return
    _require_data_folder()
    binaries = _binaries(has_karpenter=duel)
    with watching(errors, len(tasks)) as watcher:
        rehearser = Rehearser(binaries=binaries, book=book, watcher=watcher)
        played = rehearse_all(tasks, rehearser, at_once=at_once or (1 if duel else AT_ONCE))
        advice = output.advised(played, rehearser, budget) if want_advice else ()
    output.show(played, advice, page, patch, is_compared=compare is not None, is_duel=duel, as_json=as_json)
    _decide(played)


def _binaries(*, has_karpenter: bool) -> Toolchain:
    with progress(errors) as report:
        return ensure(programs=[*toolchain_names(), KARPENTER] if has_karpenter else None, progress=report)


def _decide(played: Played) -> None:
    """Exit with the code for the outcomes."""
    if any(outcome.lost for _, outcome in played):
        raise _without_verdict(played)
    if not all(outcome.is_met for outcome in deciding(outcome for _, outcome in played)):
        raise typer.Exit(FAILED)


def _without_verdict(played: Played) -> UserError:
    """Return the error that names refused stacks and lost scenarios; the end of a log was printed when it happened."""
    refused = {task.shown_as: each.lost for task, each in played if each.is_refused}
    lines = [f"Stack '{name}' cannot be rehearsed: {reason}" for name, reason in refused.items()]
    for task, each in played:
        if each.lost and not each.is_refused:
            lines.append(f"{task.title}: no verdict: {each.lost.splitlines()[0]}")
    return (UserError if refused else NoVerdictError)("\n".join(lines))


def _require_data_folder() -> None:
    """Refuse a data folder that is not writable: otherwise each scenario would end without a verdict."""
    folder = data_dir()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise unusable(error) from None
