"""Prints outcomes to the terminal: the matrix of stacks and scenarios first, then each outcome, assumptions last."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from infra.config.problems import printable
from workbench.rehearsal.duel.table import Duel
from workbench.rehearsal.duel.table import show as show_duel
from workbench.rehearsal.outcome import Costs, Outcome, deciding
from workbench.rehearsal.record import PodRecord, Record
from workbench.rehearsal.report.comparison import Comparison
from workbench.rehearsal.report.comparison import show as show_comparison
from workbench.rehearsal.report.figures import (
    brief,
    headline,
    hours,
    lasting,
    lost,
    money,
    pools,
    standing,
    works,
)
from workbench.rehearsal.verdicts.verdict import Hint, Verdict
from workbench.report.terminal import print_rows, print_table

NAMES_SHOWN: Final = 5
"""Maximum number of pods named in a line; the rest are counted."""

_WORDS: Final = {"pool", "type", "lifecycle", "work"}
"""Columns of tables that are not numbers."""

_TEXT_MAX: Final = 1_000
_PLAIN: Final[dict[str, Any]] = {"soft_wrap": True, "markup": False, "highlight": False}
_MET: Final = Text("met", style="green")
_MISSED: Final = Text("missed", style="bold red")


def show(
    outcomes: Sequence[Outcome], console: Console, comparisons: Iterable[Comparison] = (), duels: Iterable[Duel] = ()
) -> None:
    """Print outcomes, comparisons and duels.

    Parameters
    ----------
    outcomes
        In the order in which to show them.
    console
        Where to print. On a terminal lines are wrapped to its width; otherwise each text is one line.
    comparisons, duels
        Shown after the outcomes.
    """
    if len(outcomes) > 1:
        judged = deciding(outcomes)
        _print(Text(headline(judged), style=_colour(judged)), console)
        _matrix(outcomes, console)
    for index, outcome in enumerate(outcomes):
        if index or len(outcomes) > 1:
            console.print()
        _outcome(outcome, console)
    for comparison in comparisons:
        show_comparison(comparison, console)
    for duel in duels:
        show_duel(duel, console)
    _remarks(outcomes, console)


def _colour(outcomes: Iterable[Outcome]) -> str:
    played = [outcome for outcome in outcomes if not outcome.skipped]
    if not played:
        return "bold yellow"
    return "bold green" if all(outcome.is_met for outcome in played) else "bold red"


def _print(text: Text, console: Console, indent: int = 0) -> None:
    """Print a text; on a terminal its further lines are indented like its first."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, indent)))
    else:
        console.print(Text(" " * indent) + text, **_PLAIN)


def _clean(text: str) -> str:
    return printable(" ".join(text.split()), _TEXT_MAX)


def _matrix(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print scenarios as rows and stacks as columns."""
    stacks = dict.fromkeys(outcome.stack for outcome in outcomes)
    cells = {(outcome.scenario, outcome.stack): outcome for outcome in outcomes}
    rows = list[list[Text]]()
    for scenario in dict.fromkeys(outcome.scenario for outcome in outcomes):
        found = (cells.get((scenario, stack)) for stack in stacks)
        shown = (Text("-") if each is None else Text(brief(each), style=_colour([each])) for each in found)
        rows.append([Text(_clean(scenario)), *shown])
    console.print()
    print_rows(("scenario", *map(_clean, stacks)), rows, console, is_indented=True)


def _outcome(outcome: Outcome, console: Console) -> None:
    title = f"{_clean(outcome.stack)}, {_clean(outcome.scenario)}: "
    _print(Text.assemble((title, "bold"), (_clean(standing(outcome)), _colour([outcome]))), console)
    _print(Text(_clean(outcome.description), style="dim"), console)
    if outcome.record is None:
        return
    for each in sorted(outcome.verdicts, key=lambda verdict: (verdict.is_met, verdict.number)):
        _verdict(each, console)
    _pools(outcome, console)
    _waits(outcome.record, console)
    _pods("Lost pods", lost(outcome.record), console)
    _pods("Never ran", [pod for pod in outcome.record.pods if pod.started is None], console)
    _refusals(outcome.record, console)


def _verdict(verdict: Verdict, console: Console) -> None:
    words = _MET if verdict.is_met else _MISSED
    line = Text.assemble(words.copy(), " " * (8 - len(words)), _clean(verdict.expectation))
    _print(line + Text(f": {_clean(verdict.measured)}"), console, 2)
    if verdict.is_met:
        return
    if verdict.pods:
        _print(Text(f"pods: {_names(verdict.pods)}"), console, 10)
    if verdict.reason:
        _print(Text(_clean(verdict.reason), style="dim"), console, 10)
    for hint in verdict.hints:
        _print(_hint(hint), console, 10)
    if verdict.may_vary:
        _print(Text(_clean(verdict.may_vary), style="dim"), console, 10)


def _hint(hint: Hint) -> Text:
    text = Text(f"{_clean(hint.cause)} {_clean(hint.action)}")
    if hint.path:
        text.append(" Field of the ").append(f"{hint.file} file: ").append(_clean(hint.path), style="bold")
    return text


def _names(names: Sequence[str]) -> str:
    rest = len(names) - NAMES_SHOWN
    shown = ", ".join(map(_clean, names[:NAMES_SHOWN]))
    return f"{shown} and {rest} more" if rest > 0 else shown


def _table(title: str, headings: Iterable[str], console: Console) -> Table:
    console.print(f"\n  {title}", style="bold", **_PLAIN)
    table = Table(box=None, header_style="dim", padding=(0, 2))
    for heading in headings:
        table.add_column(heading, overflow="fold", justify="left" if heading in _WORDS else "right")
    return table


def _pools(outcome: Outcome, console: Console) -> None:
    figures = pools(outcome)
    if not figures:
        return
    table = _table("Pools", ("pool", "type", "lifecycle", "nodes (min..peak..max)", "node-hours", "USD"), console)
    for each in figures:
        names = (each.pool, ", ".join(each.machines), ", ".join(each.lifecycles))
        table.add_row(*(Text(_clean(name)) for name in names), each.sizes, hours(each.cost), money(each.cost))
    if outcome.costs:
        total = outcome.costs.total
        if fee := outcome.costs.control_plane:
            table.add_row("control plane", "", "", "", "", f"{fee:,.2f}")
        table.add_row("all", "", "", "", hours(total), money(total), style="bold")
    print_table(table, console)
    if outcome.costs:
        _shares(outcome.costs, console)


def _shares(costs: Costs, console: Console) -> None:
    """Print costs by lifecycle and team, and what has no price."""
    for title, parts in (("by lifecycle", costs.by_lifecycle), ("by team", costs.by_team)):
        shown = [
            f"{_clean(name) or 'unused or of no team'} {hours(cost)} node-hours"
            + (f", {money(cost)} USD" if cost.is_priced else "")
            for name, cost in parts.items()
        ]
        if shown:
            _print(Text(f"{title}: {'; '.join(shown)}"), console, 4)
    if unpriced := ", ".join(map(_clean, costs.total.unpriced)):
        _print(Text(f"no price is known for {unpriced}; sums leave it out", style="yellow"), console, 4)


def _waits(record: Record, console: Console) -> None:
    figures = works(record)
    if not figures:
        return
    table = _table("Waits", ("work", "pods", "median", "p95", "longest", "never ran", "lost"), console)
    for each in figures:
        spans = (lasting(each.median), lasting(each.p95), lasting(each.longest))
        table.add_row(Text(_clean(each.work)), str(each.pods), *spans, str(each.waiting or "-"), str(each.lost or "-"))
    print_table(table, console)


def _pods(title: str, pods: Sequence[PodRecord], console: Console) -> None:
    """Print pods by their work and what ended them."""
    groups: dict[tuple[str, str], list[str]] = {}
    for pod in pods:
        groups.setdefault((pod.work or pod.kind, pod.end_cause), []).append(pod.name)
    if groups:
        console.print(f"\n  {title}: {len(pods)}", style="bold", **_PLAIN)
    for (work, cause), names in groups.items():
        why = f"; {_clean(cause)}" if cause else ""
        _print(Text(f"{_clean(work)}: {_names(names)}{why}"), console, 4)


def _refusals(record: Record, console: Console) -> None:
    messages: dict[tuple[str, str], list[str]] = {}
    for each in record.refusals:
        messages.setdefault((each.work, each.message), []).append(each.name)
    if messages:
        console.print(f"\n  Refused by the API server: {len(record.refusals)}", style="bold", **_PLAIN)
    for (work, message), names in messages.items():
        _print(Text(f"{_clean(work)}: {_names(names)}: {_clean(message)}"), console, 4)


def _remarks(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print assumptions, notes and sources of prices, each once and with the outcomes that it is about."""
    played = [outcome for outcome in outcomes if outcome.record]
    assumptions: dict[str, list[Outcome]] = {}
    notes: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        for line in dict.fromkeys(outcome.record.assumptions if outcome.record else ()):
            assumptions.setdefault(line, []).append(outcome)
        for line in dict.fromkeys((*outcome.notes, *filter(None, [outcome.costs.prices if outcome.costs else ""]))):
            notes.setdefault(line, []).append(outcome)
    for title, lines in (("Assumptions", assumptions), ("Notes", notes)):
        if lines:
            console.print(f"\n{title}", style="bold", **_PLAIN)
        for line, about in lines.items():
            _print(Text(f"{_about(about, played)}{_clean(line)}", style="dim"), console, 2)


def _about(outcomes: Sequence[Outcome], played: Sequence[Outcome]) -> str:
    """Return which outcomes a line is about, as its beginning: empty if all, else stacks, or stacks with scenarios."""
    if len(outcomes) >= len(played):
        return ""
    stacks = dict.fromkeys(outcome.stack for outcome in outcomes)
    if len(outcomes) == sum(outcome.stack in stacks for outcome in played):
        return f"{_names(list(stacks))}: "
    return f"{_names([f'{outcome.stack} {outcome.scenario}' for outcome in outcomes])}: "
