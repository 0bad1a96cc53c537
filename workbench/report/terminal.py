"""Prints a report to the terminal: verdict and losses first, then all other changes by type."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import StringIO
from typing import Any, Final

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from workbench.report.findings import FAILING
from workbench.report.model import (
    Change,
    Danger,
    Finding,
    FindingStatus,
    Hours,
    Operation,
    Outcome,
    PropertyChange,
    Report,
    Source,
    StackReport,
)
from workbench.report.money import amounts, basis, left_out, rehearsed_amounts
from workbench.report.words import (
    DESTRUCTIVE,
    FOR_OWNERS,
    OPERATIONS,
    SOURCES,
    STANDINGS,
    about,
    count,
    counts,
    difference,
    meaning,
    type_and_name,
    verdict,
)

PROBLEMS: Final = "Problems"
"""Title of the list of what the engine or the program reports as wrong."""

UPDATES_SHOWN: Final = 20
"""Maximum number of updates listed with their properties; beyond it only names are listed."""

NAMES_SHOWN: Final = 12
"""Maximum number of names listed per kind; beyond it the first four are listed and the rest are counted."""

FIRST_NAMES: Final = 4
PROPERTIES_SHOWN: Final = 6
_NARROW: Final = 100
"""Terminal width below which a resource's changes get lines of their own."""

_COLOURS: Final = {
    Outcome.PASSED: "bold green",
    Outcome.REVIEW: "bold yellow",
    Outcome.BLOCKED: "bold red",
    Outcome.UNJUDGED: "bold red",
}
_STANDING_COLOURS: Final = {
    FindingStatus.VIOLATED: "red",
    FindingStatus.UNJUDGED: "red",
    FindingStatus.EXCUSED: "yellow",
}
_ANY_WIDTH: Final = 1_000
_PLAIN: Final[dict[str, Any]] = {"soft_wrap": True, "markup": False, "highlight": False}


def show(report: Report, console: Console) -> None:
    """Print a report."""
    if len(report.stacks) != 1 or report.judge:
        _verdict(report, "", console)
        console.print(meaning(report), **_PLAIN)
    _list("", report.problems, console)
    if report.judge:
        _list(f"{FOR_OWNERS}:", (f"{each.file}: {each.what}" for each in report.judge), console)
    for index, stack in enumerate(report.stacks):
        if index or report.judge or len(report.stacks) > 1:
            console.print()
        _stack(stack, console)
    if report.skipped:
        console.print(f"\nNot affected: {', '.join(report.skipped)}", **_PLAIN)


def show_run(stack: StackReport, console: Console, headline: str, *, is_good: bool) -> None:
    """Print what a run of the engine did or plans: violations first and last, changes by resource, pools.

    Parameters
    ----------
    stack
        The report of the run.
    console
        Where to print.
    headline
        Outcome of the run, such as ``updated``.
    is_good
        Whether the status counts as a success.
    """
    known = about(stack)
    name = f"{stack.stack} ({known})" if known else stack.stack
    colour = _COLOURS[Outcome.PASSED if is_good else Outcome.BLOCKED]
    console.print(Text.assemble(f"{name}: ", (headline, colour)), **_PLAIN)
    if stack.source is Source.RENDERED:
        console.print(SOURCES[stack.source], style="yellow", **_PLAIN)
    _body(stack, console)
    if failing := _failing(stack.findings):
        _list("Violated", map(_headline, _merged(failing)), console, style="red")


def _verdict(judged: Report | StackReport, name: str, console: Console) -> None:
    console.print(Text.assemble((name and f"{name}: "), (verdict(judged), _COLOURS[judged.outcome])), **_PLAIN)


def _stack(stack: StackReport, console: Console) -> None:
    known = about(stack)
    _verdict(stack, f"{stack.stack} ({known})" if known else stack.stack, console)
    if SOURCES[stack.source]:
        console.print(SOURCES[stack.source], style="yellow", **_PLAIN)
    _list("", stack.notes, console, style="yellow")
    _list("", stack.reasons, console)
    _body(stack, console)


def _body(stack: StackReport, console: Console) -> None:
    failing = _failing(stack.findings)
    _findings("Rules", failing, console)
    _list(PROBLEMS, stack.problems, console)
    _list("Dangers", map(_danger, stack.dangers), console, style="bold red")
    guarded = {danger.change.urn for danger in stack.dangers}
    lost = [each for each in stack.changes if each.operation in DESTRUCTIVE and each.urn not in guarded]
    _list("Replaced and deleted", _losses(lost), console, style="red")
    _gains(stack, console)
    others = [each for each in stack.findings if each not in failing]
    _findings("Other rules" if failing else "Rules", others, console)
    _pools(stack, console)
    if stack.changes or stack.unchanged:
        console.print(f"\n{_totals(stack)}", **_PLAIN)


def _list(title: str, lines: Iterable[str], console: Console, style: str = "") -> None:
    """Print lines under a title; nothing if there are no lines."""
    listed = list(lines)
    if listed and title:
        console.print(f"\n{title}", style="bold", **_PLAIN)
    for line in listed:
        console.print(f"  {line}", style=style or None, **_PLAIN)


def _danger(danger: Danger) -> str:
    change = danger.change
    approval = f"approved: {danger.approval}" if danger.approval else "not approved"
    newly = " (a row that this change adds or alters)" if danger.is_new else ""
    return f"{change.operation} {danger.kind} {change.name} ({change.type}){_why(change)}; {approval}{newly}"


def _losses(changes: Iterable[Change]) -> Iterator[str]:
    """Return one line per operation, type and reason."""
    groups = defaultdict[tuple[Operation, str, str], list[str]](list)
    for change in changes:
        groups[change.operation, change.type, _why(change)].append(change.name)
    for (operation, token, why), names in groups.items():
        number = f"{len(names)} " if len(names) > 1 else ""
        yield f"{operation} {number}{token}: {', '.join(names)}{why}"


def _why(change: Change) -> str:
    forcing = [each for each in change.properties if each.forces_replacement]
    shown = ", ".join(map(_property, forcing[:PROPERTIES_SHOWN]))
    rest = f" and {len(forcing) - PROPERTIES_SHOWN} more" if len(forcing) > PROPERTIES_SHOWN else ""
    return (
        (f"; forced by {shown}{rest}" if forcing else "")
        + (f"; lost with it: {change.carries_state}" if change.carries_state else "")
        + ("; protected, the engine refuses it" if change.protected else "")
    )


def _property(change: PropertyChange) -> str:
    if change.before is change.after is None:
        return change.path
    before, after = ("(none)" if value is None else value for value in (change.before, change.after))
    return f"{change.path} {before} -> {after}"


def _gains(stack: StackReport, console: Console) -> None:
    for operation in (Operation.CREATE, Operation.UPDATE):
        changes = [change for change in stack.changes if change.operation is operation]
        if not changes:
            continue
        console.print(f"\n{OPERATIONS[operation]}, {count(len(changes), 'resource')}", style="bold", **_PLAIN)
        if operation is Operation.UPDATE and len(changes) <= UPDATES_SHOWN:
            for change in changes:
                rest = len(change.properties) - PROPERTIES_SHOWN
                shown = [*map(_property, change.properties[:PROPERTIES_SHOWN]), *([f"{rest} more"] if rest > 0 else [])]
                if console.is_terminal and console.width < _NARROW:
                    _list("", [f"{change.name} ({change.type})", *(f"    {each}" for each in shown)], console)
                else:
                    console.print(f"  {change.type} {change.name}: {', '.join(shown)}", **_PLAIN)
        else:
            _by_kind(changes, console)


def _by_kind(changes: Iterable[Change], console: Console) -> None:
    """Print each kind with the names of its resources, the most frequent first; on a terminal wrapped to its width."""
    groups = defaultdict[str, list[str]](list)
    for change in changes:
        groups[change.type].append(change.name)
    for token, names in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        line = Text.assemble(f"{len(names):>6}  {token}  ", (_names(names), "dim"))
        if console.is_terminal:
            console.print(Padding(line, (0, 0, 0, 8)) if console.width < _NARROW else line)
        else:
            console.print(line, **_PLAIN)


def _names(names: Sequence[str]) -> str:
    if len(names) <= NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:FIRST_NAMES])}, {len(names) - FIRST_NAMES} more"


def _failing(findings: Iterable[Finding]) -> list[Finding]:
    return [each for each in findings if each.standing in FAILING]


def _merged(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Return findings in groups that differ in their resource only."""
    groups = defaultdict[Finding, list[Finding]](list)
    for finding in findings:
        groups[replace(finding, urn="")].append(finding)
    return list(groups.values())


def _headline(alike: Sequence[Finding]) -> str:
    """Return rule, status and resources of equal findings."""
    first, *others = alike
    whose = "" if first.judge == "both" else f", by the rules of {_JUDGES[first.judge]}"
    names = [" ".join(filter(None, type_and_name(each.urn))) or "the stack" for each in alike]
    number = f"{len(alike)} resources: " if others else ""
    return f"{first.rule} {STANDINGS[first.standing]}{whose}: {number}{_names(names)}"


def _findings(title: str, findings: Iterable[Finding], console: Console) -> None:
    groups = _merged(findings)
    if groups:
        console.print(f"\n{title}", style="bold", **_PLAIN)
    for alike in groups:
        finding, line = alike[0], Text(f"  {_headline(alike)}")
        line.stylize(_STANDING_COLOURS.get(finding.standing, ""), 2, line.plain.index(":"))
        console.print(line, **_PLAIN)
        waiver = f"waived {finding.waiver}" if finding.waiver else ""
        fix = f"Fix: {finding.fix}" if finding.fix else ""
        for text in filter(None, (finding.message, waiver, fix, finding.reference)):
            console.print(f"      {text}", **_PLAIN)


_JUDGES: Final = {"base": "the base branch alone", "own": "the change alone"}


def _pools(stack: StackReport, console: Console) -> None:
    if stack.pools:
        console.print("\nPools", style="bold", **_PLAIN)
        rows = ((each.pool, each.what, each.before or "-", each.after or "-") for each in stack.pools)
        print_rows(("pool", "what", "before", "after"), rows, console, is_indented=True)
    if stack.node_hours:
        console.print()
        _hours("Node", stack.node_hours, console)
        for offered in stack.resource_hours:
            _hours(offered.resource, offered.hours, console)
    if stack.cost:
        without = ", ".join(left_out(stack.cost))
        console.print(f"Cost: {amounts(stack.cost)}; {basis(stack.cost)}.", **_PLAIN)
        if without:
            console.print(f"No price is known for {without}.", **_PLAIN)
        for line in rehearsed_amounts(stack.cost):
            console.print(line, **_PLAIN)


def print_rows(
    headings: Iterable[str], rows: Iterable[Iterable[str | Text]], console: Console, *, is_indented: bool = False
) -> None:
    """Print a table without lines whose columns wrap; its cells are not interpreted as markup."""
    table = Table(box=None, pad_edge=is_indented, padding=(0, 2) if is_indented else (0, 1), header_style="bold")
    for heading in headings:
        table.add_column(Text(heading), overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in row))
    print_table(table, console)


def print_table(table: Table, console: Console) -> None:
    """Print a table; without a terminal each row stays on one line, however long it is."""
    if console.is_terminal:
        console.print(table)
        return
    wide = Console(file=StringIO(), width=_ANY_WIDTH)
    with wide.capture() as captured:
        wide.print(table)
    for line in captured.get().splitlines():
        console.print(line.rstrip(), **_PLAIN)


def _hours(name: str, hours: Hours, console: Console) -> None:
    spans = ((hours.least_before, hours.least_after, "smallest"), (hours.most_before, hours.most_after, "largest"))
    shown = ", ".join(f"{after:,} at the {size} sizes{_by(before, after)}" for before, after, size in spans)
    console.print(f"{name}-hours a month: {shown}", **_PLAIN)


def _by(before: int | None, after: int) -> str:
    return "" if before is None else f" (difference: {difference(before, after)})"


def _totals(stack: StackReport) -> str:
    changes = [f"{operation} {number}" for operation, number in counts(stack.changes).items() if number]
    totals = [", ".join(changes) or "nothing changes", f"{stack.unchanged} unchanged"]
    if stack.source is not Source.DRIFT:
        standings = Counter(finding.standing for finding in stack.findings)
        numbers = ", ".join(f"{number} {standing}" for standing, number in standings.items())
        totals.append(f"{count(stack.rules, 'rule')} evaluated" + (f": {numbers}" if numbers else ""))
    return "; ".join(totals)
