"""One table of a scenario under Cluster Autoscaler and under Karpenter: figures, and facts that explain them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.text import Text

from infra.config.problems import printable
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.play.labels import DO_NOT_DISRUPT
from workbench.rehearsal.record import AUTOSCALER, PodRecord
from workbench.rehearsal.report.comparison import About, Row, compare
from workbench.rehearsal.report.figures import lost
from workbench.rehearsal.settings import Scaler
from workbench.report.terminal import print_rows
from workbench.report.words import count

LEAD: Final = (
    "Each column is a cluster of its own, one played after the other. A change is from Cluster Autoscaler; it has no "
    "colour if two runs under the same scaler may differ as much."
)

_ALWAYS: Final = ("expectation", "pods", "usd")
"""Figures that are shown although no column differs."""

_TEXT_MAX: Final = 400


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A figure under another scaler."""

    text: str
    change: str = ""
    """Its difference from the figure under Cluster Autoscaler; empty without one."""
    is_better: bool | None = None
    """Null if that cannot be said, or if two runs may differ as much."""


@dataclass(frozen=True, kw_only=True)
class DuelRow:
    """One figure under each scaler."""

    about: About
    name: str
    first: str
    """Under Cluster Autoscaler."""
    others: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class Duel:
    """A scenario under each scaler.

    Parameters
    ----------
    stack, scenario
        Their names.
    scalers
        Names of the columns; the first is Cluster Autoscaler.
    rows
        Expectations first, then waits, pods, nodes and costs.
    facts
        What a reader must know, as sentences.
    """

    stack: str
    scenario: str
    scalers: tuple[str, ...]
    rows: tuple[DuelRow, ...]
    facts: tuple[str, ...]

    @property
    def names(self) -> tuple[str, str]:
        """The two programs that are compared."""
        return Scaler.CLUSTER_AUTOSCALER.value, Scaler.KARPENTER.value


def duel(stack: str, outcomes: Mapping[Scaler, Outcome]) -> Duel:
    """Return the table of a scenario that was played to its end under every scaler.

    Parameters
    ----------
    stack
        Name of the stack.
    outcomes
        The outcome under each scaler.
    """
    first = outcomes[Scaler.CLUSTER_AUTOSCALER]
    others = [scaler for scaler in Scaler if scaler.is_karpenter]
    compared = [{(row.about, row.name): row for row in compare(first, outcomes[each]).rows} for each in others]
    keys = dict.fromkeys(key for rows in compared for key in rows)
    rows = [row for key in keys if (row := _row([found.get(key) for found in compared])) is not None]
    return Duel(
        stack=stack,
        scenario=first.scenario,
        scalers=tuple(scaler.value for scaler in Scaler),
        rows=tuple(rows),
        facts=(*_facts(rows), *_moved(outcomes)),
    )


def _row(found: list[Row | None]) -> DuelRow | None:
    """Return a row from those of the comparisons; None if there is nothing to show."""
    known = [row for row in found if row is not None]
    first = known[0]
    if first.about not in _ALWAYS and not any(row.is_shown for row in known):
        return None
    others = (
        Cell(text="-") if row is None else Cell(text=row.after, change=row.change, is_better=row.is_better)
        for row in found
    )
    return DuelRow(about=first.about, name=first.name, first=first.before, others=tuple(others))


def _facts(rows: list[DuelRow]) -> Iterator[str]:
    if not any(cell.is_better is not None for row in rows for cell in row.others):
        yield "No figure differs by more than two runs under the same scaler may differ."


def _moved(outcomes: Mapping[Scaler, Outcome]) -> Iterator[str]:
    """Yield which pods each scaler moved to save nodes, and how to keep Karpenter from moving them."""
    for scaler, outcome in outcomes.items():
        taken = [pod for pod in lost(outcome.record) if pod.end_cause.startswith(AUTOSCALER)] if outcome.record else []
        if not taken:
            continue
        bare = [pod for pod in taken if not _has_heir(pod, outcome)]
        text = f"{scaler} moved {count(len(taken), 'pod')} of {_works(taken)} to save nodes"
        yield f"{text}; not created again: {len(bare)}." if bare else f"{text}; all were created again."
        if bare and scaler.is_karpenter:
            yield (
                f'Karpenter leaves pods alone that have the annotation {DO_NOT_DISRUPT}: "true", and with '
                "consolidationPolicy WhenEmpty it removes empty nodes only."
            )


def _has_heir(pod: PodRecord, outcome: Outcome) -> bool:
    return any(each.replaces == pod.uid for each in outcome.record.pods) if outcome.record else False


def _works(pods: list[PodRecord]) -> str:
    return ", ".join(dict.fromkeys(pod.work for pod in pods))


def show(shown: Duel, console: Console) -> None:
    """Print the table and the facts."""
    title = f"{shown.scenario} on {shown.stack}: {' or '.join(shown.names)}"
    console.print(Text(f"\n{printable(title, _TEXT_MAX)}", style="bold"), soft_wrap=True)
    rows = (
        (*(Text(printable(text, _TEXT_MAX)) for text in (row.name, row.first)), *map(_cell, row.others))
        for row in shown.rows
    )
    print_rows(("", *shown.scalers), rows, console, is_indented=True)
    for text in (LEAD, *shown.facts):
        console.print(Text(f"  {printable(text, _TEXT_MAX)}", style="dim"), soft_wrap=True)


def _cell(cell: Cell) -> Text:
    text = Text(printable(cell.text, _TEXT_MAX))
    if cell.change:
        text.append(f" ({cell.change})", style={True: "green", False: "red", None: ""}[cell.is_better])
    return text
