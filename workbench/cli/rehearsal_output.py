"""Output of `igz-clusters rehearse`."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from infra.config.problems import printable
from workbench.cli.console import PLAIN, errors, out
from workbench.rehearsal.advice.advice import Advice
from workbench.rehearsal.advice.search import advise
from workbench.rehearsal.duel.table import Duel, duel
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.rehearse import Played, Rehearser, Task
from workbench.rehearsal.report import as_json as report_json
from workbench.rehearsal.report import page as report_page
from workbench.rehearsal.report import summary
from workbench.rehearsal.report.comparison import Comparison, compare
from workbench.rehearsal.scenario import files
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.settings import Scaler
from workbench.report.terminal import print_rows
from workbench.stacks import Stack
from workbench.system.errors import UserError

_LINE_MAX: Final = 2_000


def list_scenarios(*, as_json: bool) -> None:
    """Print the shipped scenarios."""
    found = files.find_all(tuple(files.shipped()))
    if as_json:
        rows = [{"name": each.name, "description": each.scenario.description, "lasts": each.scenario.lasts}
                for each in found]  # fmt: skip
        out.print_json(json.dumps(rows), ensure_ascii=True)
        return
    shown = ((each.name, duration_text(each.scenario.lasts), each.scenario.description) for each in found)
    print_rows(("scenario", "lasts", "what it shows"), shown, out)


def advised(played: Played, rehearser: Rehearser, budget: int) -> tuple[Advice, ...]:
    """Return advice for each scenario that misses an expectation."""
    return tuple(_advised(played, rehearser, budget))


def _advised(played: Played, rehearser: Rehearser, budget: int) -> Iterator[Advice]:
    for task, outcome in played:
        if outcome.is_met or outcome.lost or outcome.is_reference:
            continue

        def again(stack: Stack, scenario: Scenario, task: Task = task) -> Outcome:
            return rehearser.rehearse(replace(task, stack=stack, scenario=scenario))

        yield advise(
            task.stack,
            task.scenario,
            outcome,
            again,
            budget,
            scenario_file=task.file,
            how_to_edit=task.how_to_edit,
        )


def show(  # noqa: PLR0913 what was found, and where it goes
    played: Played,
    advice: Sequence[Advice],
    page: Path | None,
    patch: Path | None,
    *,
    is_compared: bool,
    is_duel: bool,
    as_json: bool,
) -> None:
    """Print the results, and write the page and the patch if they are asked for."""
    outcomes = [outcome for _, outcome in played]
    comparisons = tuple(_comparisons(played)) if is_compared else ()
    duels = tuple(_duels(played)) if is_duel else ()
    if as_json:
        # Rich would take minutes for 10,000 pods.
        out.file.write(report_json.render(outcomes, comparisons, advice, duels))
    else:
        summary.show(outcomes, out, comparisons, duels)
        for each in advice:
            _show_advice(each)
    if page:
        _write("--output", page, report_page.render(outcomes, comparisons, advice, duels), "Page")
    if patch:
        text = "".join(each.patch for each in advice)
        # An empty file, which `git apply` refuses, replaces a patch from an earlier search.
        _write("--patch", patch, text, "Patch" if text else "No patch, so this file is empty")


def _write(option: str, file: Path, text: str, what: str) -> None:
    try:
        file.write_text(text, encoding="utf-8", newline="")  # lines of a patch end as those of its file
    except OSError as error:
        raise UserError(f"{option}: cannot write {file}: {error.strerror}.") from None
    errors.print(f"{what}: {file}", **PLAIN)


def _comparisons(played: Played) -> Iterator[Comparison]:
    """Yield the comparison of each scenario's two outcomes; the stack to compare with comes first."""
    found: dict[str, list[tuple[Task, Outcome]]] = {}
    for task, outcome in played:
        found.setdefault(task.name, []).append((task, outcome))
    for pair in found.values():
        if len(pair) == 2 and all(outcome.record for _, outcome in pair):  # noqa: PLR2004 a pair
            yield compare(pair[0][1], pair[1][1])


def _duels(played: Played) -> Iterator[Duel]:
    """Return the table of each scenario that was played to its end under every scaler."""
    found: dict[str, list[tuple[Task, Outcome]]] = {}
    for task, outcome in played:
        found.setdefault(task.name, []).append((task, outcome))
    for columns in found.values():
        if len(columns) == len(Scaler) and all(outcome.record for _, outcome in columns):
            yield duel(columns[0][0].stack.name, {task.scaler: outcome for task, outcome in columns})


def _show_advice(advice: Advice) -> None:
    _print(f"\nAdvice for {advice.before.stack}, {advice.before.scenario}", style="bold")
    _print("\n".join([advice.summary, *advice.ended.splitlines()[1:]]))
    for before, after in advice.verdicts if advice.edits else ():
        if before.is_met != after.is_met:
            _print(f"  {'met now' if after.is_met else 'missed now'}: {after.expectation} ({after.measured})")
    if advice.edits and advice.usd is not None:
        _print(f"  The scenario costs {abs(advice.usd):.2f} USD {'less' if advice.usd < 0 else 'more'}.")
    if advice.patch:
        _print(f"\n{advice.patch}")
    if advice.unpatched:
        _print(f"  Not in the patch: {advice.unpatched}.")
    for each in advice.refused:
        _print(f"  not possible: {each}")


def _print(text: str, style: str | None = None) -> None:
    """Print text that quotes files, without the control characters that may be in it."""
    out.print("\n".join(printable(line, _LINE_MAX) for line in text.split("\n")), style=style, **PLAIN)
