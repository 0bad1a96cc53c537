"""Compares two outcomes of one scenario: two stacks, or two revisions of a stack file."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from rich.console import Console
from rich.text import Text

from infra.config.problems import printable
from workbench.prices.node_hours import HOUR
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.report.figures import lasting, lost, money, pools, works
from workbench.rehearsal.verdicts.finding import JITTER
from workbench.rehearsal.verdicts.verdict import Verdict
from workbench.report.terminal import print_rows

About: TypeAlias = Literal["expectation", "wait", "pods", "nodes", "node-hours", "usd"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure of both outcomes, as text."""

    about: About
    name: str
    """What it is a figure of, such as ``train waits at most 5m``, or the name of a pool."""
    before: str
    """``-`` where an outcome has none."""
    after: str
    change: str = ""
    """Their difference, such as ``+2.5``; of expectations ``now met`` or ``now missed``. Empty if nothing changes."""
    is_better: bool | None = None
    """Whether the change is an improvement; null if nothing changes, if that is unknown, or if two runs of the same
    stack may differ as much."""

    @property
    def is_shown(self) -> bool:
        """Whether pages and terminals show it: it changes, or is about all costs."""
        return bool(self.change) or self.about == "usd" or self.name.startswith("all pools")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Two outcomes of one scenario, side by side.

    Parameters
    ----------
    scenario
        Its name.
    before, after
        What was compared: names of stacks, or of revisions.
    rows
        Expectations first, then waits, pods, nodes and costs.
    """

    scenario: str
    before: str
    after: str
    rows: tuple[Row, ...]

    @property
    def summary(self) -> str:
        """What changes for the expectations, such as ``1 expectation now met, 2 now missed``."""
        changes = [row.change for row in self.rows if row.about == "expectation" and row.change]
        counts = [f"{changes.count(change)} {change}" for change in dict.fromkeys(changes)]
        return f"expectations: {', '.join(counts)}" if counts else "expectations: no change"


def compare(before: Outcome, after: Outcome, names: tuple[str, str] | None = None) -> Comparison:
    """Return the comparison of two outcomes.

    Parameters
    ----------
    before, after
        Outcomes of the same scenario.
    names
        What to call them. Default: their stacks.

    Raises
    ------
    ValueError
        The outcomes are of different scenarios.
    """
    if before.scenario != after.scenario:
        raise ValueError(f"scenarios differ: {before.scenario} and {after.scenario}")
    first, second = names or (before.stack, after.stack)
    rows = [*_expectations(before, after)]
    if before.record is not None and after.record is not None:
        rows += [*_waits(before, after), *_losses(before, after)]
    rows += [*_nodes(before, after), *_costs(before, after)]
    return Comparison(scenario=before.scenario, before=first, after=second, rows=tuple(rows))


def _expectations(before: Outcome, after: Outcome) -> Iterator[Row]:
    befores, afters = ({verdict.number: verdict for verdict in each.verdicts} for each in (before, after))
    for number in sorted({*befores, *afters}):
        old, new = befores.get(number), afters.get(number)
        name = next(each.expectation for each in (new, old) if each)
        change, better = "", None
        if old and new and old.is_met != new.is_met:
            change, better = ("now met", True) if new.is_met else ("now missed", False)
        elif (old is None or new is None) and (before.skipped or after.skipped):
            change = "one is skipped"
        texts = (_standing(old), _standing(new))
        yield Row(about="expectation", name=name, before=texts[0], after=texts[1], change=change, is_better=better)


def _standing(verdict: Verdict | None) -> str:
    return "-" if verdict is None else f"{'met' if verdict.is_met else 'missed'}: {verdict.measured}"


def _numbers(  # noqa: PLR0913 what a row says
    about: About,
    name: str,
    pair: Iterable[float | None],
    text: Callable[[float], str],
    *,
    judged: bool = True,
    noise: float = 0.0,
) -> Row:
    """Return a row of two numbers of which the smaller one is better, if they differ by more than ``noise``."""
    old, new = (None if value is None else round(value, 2) for value in pair)
    texts = ["-" if value is None else text(value) for value in (old, new)]
    if old is None or new is None or texts[0] == texts[1]:
        return Row(about=about, name=name, before=texts[0], after=texts[1])
    sign = "+" if new > old else "-"
    better = new < old if judged and abs(new - old) > noise else None
    change = f"{sign}{text(abs(new - old))}"
    return Row(about=about, name=name, before=texts[0], after=texts[1], change=change, is_better=better)


def _waits(before: Outcome, after: Outcome) -> Iterator[Row]:
    olds, news = ({each.work: each for each in works(side.record)} if side.record else {} for side in (before, after))
    for work in dict.fromkeys([*olds, *news]):
        old, new = olds.get(work), news.get(work)
        for what in ("median", "p95", "longest"):
            numbers = (None if each is None else float(getattr(each, what)) for each in (old, new))
            yield _numbers("wait", f"{work}, {what} wait", numbers, lasting, noise=_jitter(before, after))


def _losses(before: Outcome, after: Outcome) -> Iterator[Row]:
    records = [each.record for each in (before, after) if each.record is not None]
    taken = [float(len(lost(record))) for record in records]
    never = [float(sum(pod.started is None for pod in record.pods)) for record in records]
    yield _numbers("pods", "pods lost", taken, "{:.0f}".format)
    yield _numbers("pods", "pods that never ran", never, "{:.0f}".format)


def _nodes(before: Outcome, after: Outcome) -> Iterator[Row]:
    olds, news = ({each.pool: each for each in pools(side)} for side in (before, after))
    for pool in dict.fromkeys([*olds, *news]):
        sides = (olds.get(pool), news.get(pool))
        peaks = (None if each is None else float(each.peak) for each in sides)
        yield _numbers("nodes", f"pool {pool}, most nodes", peaks, "{:.0f}".format, judged=False)
        costs = [each.cost if each else None for each in sides]
        amounts = (None if each is None else each.node_hours for each in costs)
        noise = _noise(before, after, pool)
        yield _numbers("node-hours", f"pool {pool}, node-hours", amounts, "{:,.1f}".format, noise=noise)


def _costs(before: Outcome, after: Outcome) -> Iterator[Row]:
    totals = [each.costs.total if each.costs else None for each in (before, after)]
    amounts = (None if each is None else each.node_hours for each in totals)
    noise = _noise(before, after)
    yield _numbers("node-hours", "all pools, node-hours", amounts, "{:,.1f}".format, noise=noise)
    prices = (None if each is None or each.unpriced else each.usd for each in totals)
    of_an_hour = max((each.usd / each.node_hours for each in totals if each and each.node_hours), default=0.0)
    row = _numbers("usd", "total, USD", prices, "{:,.2f}".format, noise=noise * of_an_hour)
    yield replace(row, before=money(totals[0]), after=money(totals[1]))


def _jitter(*outcomes: Outcome) -> float:
    """Return the seconds of the scenario by which a moment may differ between two runs of the same stack."""
    return max((JITTER * each.record.speed for each in outcomes if each.record), default=0.0)


def _noise(before: Outcome, after: Outcome, pool: str = "") -> float:
    """Return the node-hours by which two runs may differ, because each node is removed a little sooner or later."""
    records = [each.record for each in (before, after) if each.record]
    nodes = max((sum(not pool or node.pool == pool for node in each.nodes) for each in records), default=0)
    return nodes * _jitter(before, after) / HOUR


def show(comparison: Comparison, console: Console) -> None:
    """Print a comparison; figures that do not change are left out, except of costs."""
    title = f"{comparison.scenario}: {comparison.before} -> {comparison.after}"
    console.print(Text(f"\n{printable(title, 200)}; {comparison.summary}", style="bold"), soft_wrap=True)
    colours = {True: "green", False: "red", None: ""}
    rows = (
        (
            *(Text(printable(cell, 400)) for cell in (row.name, row.before, row.after)),
            Text(row.change, style=colours[row.is_better]),
        )
        for row in comparison.rows
        if row.is_shown
    )
    headings = ("", printable(comparison.before), printable(comparison.after), "change")
    print_rows(headings, rows, console, is_indented=True)
