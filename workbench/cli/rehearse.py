"""`igz-clusters rehearse`: simulated work on the simulated cluster of a stack file."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from workbench.cli import rehearsal_output as output
from workbench.cli.console import FAILED
from workbench.cli.options import AsJson
from workbench.cli.rehearsal_tasks import Asked, tasks_of
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.settings import NODE_START, SPEED
from workbench.system.errors import NoVerdictError

AT_ONCE: Final = 2
"""Clusters at the same time, by default."""

BUDGET: Final = 6
"""Rehearsals that a search for advice may take, by default."""


def _option(name: str, help: str, metavar: str = "FILE") -> Any:  # noqa: A002 Typer's own name
    return typer.Option(name, metavar=metavar, help=help)


def rehearse(  # noqa: PLR0913 one parameter for each option
    names: Annotated[list[str] | None, typer.Argument(metavar="[STACK]...", help="Stacks. Default: local.")] = None,
    *,
    scenario: Annotated[
        list[str] | None, _option("--scenario", "A shipped scenario or a file; repeat for more. Default: all.", "NAME")
    ] = None,
    replay: Annotated[
        Path | None, _option("--replay", "Play what happened elsewhere: an audit log, pods, events or MLRun's runs.")
    ] = None,
    begin: Annotated[str | None, _option("--from", "Replay only what happened from TIME on.", "TIME")] = None,
    end: Annotated[str | None, _option("--to", "Replay only what happened before TIME.", "TIME")] = None,
    write_scenario: Annotated[
        Path | None, _option("--write-scenario", "Write the scenario of --replay to FILE, and play nothing.")
    ] = None,
    speed: Annotated[
        float | None, _option("--speed", f"Scenario seconds in a real second. Default: {SPEED:.0f}.", "N")
    ] = None,
    node_start: Annotated[str, _option("--node-start", "Time until a new node is ready.", "TIME")] = duration_text(
        NODE_START
    ),
    at_once: Annotated[int, typer.Option("--at-once", min=1, max=8, help="Clusters at the same time.")] = AT_ONCE,
    compare: Annotated[
        str | None, _option("--compare", "Also play on another stack, or on an earlier commit.", "STACK|REV")
    ] = None,
    want_advice: Annotated[
        bool, typer.Option("--advise", help="Search for the change of the stack file that meets missed expectations.")
    ] = False,
    budget: Annotated[
        int, typer.Option("--budget", min=1, max=100, help="Rehearsals that the search may take, for each scenario.")
    ] = BUDGET,
    page: Annotated[Path | None, _option("--output", "Write a page with all results to FILE.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the shipped scenarios.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show how work will run on a stack, and what it costs, before the cluster exists.

    For example: igz-clusters rehearse dev --scenario spot-reclaim --output report.html

    Builds the stack's nodes as simulated ones on a control plane of its own, with the real scheduler and autoscaler,
    plays the scenarios in compressed time, and judges what the API server recorded. Needs no account and no cluster,
    and leaves nothing. Exit code 1: an expectation was missed, 3: a scenario has no verdict. docs/rehearsal.md
    explains scenarios and reports.
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
    )
    output.require_writable(page)
    tasks = tasks_of(asked)
    if write_scenario:
        return
    found = _played(tasks, at_once)
    advice = output.advised(found.rehearser, found.pairs, budget) if want_advice else ()
    output.show(found.outcomes, advice, asked.compare and tasks[0].shown_as, page, as_json=as_json)
    if found.lost:
        raise NoVerdictError("\n".join(f"{title}: no verdict: {reason}" for title, reason in found.lost))
    if not all(outcome.is_met for outcome in found.outcomes):
        raise typer.Exit(FAILED)
