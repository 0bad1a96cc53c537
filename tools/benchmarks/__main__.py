"""``python -m tools.benchmarks``: run the cases and report."""

import time
from pathlib import Path
from typing import Annotated

import typer

from tools.benchmarks import report
from tools.benchmarks.arena import arena
from tools.benchmarks.cases import CASES
from tools.benchmarks.entry import run
from workbench.cli.console import errors, out
from workbench.system.errors import UserError


def benchmarks(
    only: Annotated[list[str] | None, typer.Option(help=f"A case: {', '.join(CASES)}. Can be repeated.")] = None,
    pairs: Annotated[int | None, typer.Option(min=2, help="Rounds of each case; default: each case's own.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write all numbers to this file.")] = None,
    *,
    write: Annotated[bool, typer.Option("--write", help="Renew the tables of docs/benchmarks.md.")] = False,
) -> None:
    """Measure this project's overhead over a minimal program on the same engine."""
    if unknown := sorted(set(only or ()) - set(CASES)):
        raise UserError(f"There is no case {', '.join(unknown)}.", f"Known cases: {', '.join(CASES)}.")
    if write and only:
        raise UserError("--write renews the whole page, so it goes without --only.")
    if json and not json.absolute().parent.is_dir():
        raise UserError(f"There is no folder {json.absolute().parent} to write {json.name} to.")
    about, started = report.machine(), time.monotonic()
    with arena() as place, errors.status("") as line:

        def say(words: str) -> None:
            line.update(words) if errors.is_terminal else errors.print(words, highlight=False)

        results, took = {}, []
        chosen = {name: case for name, case in CASES.items() if name in (only or CASES)}
        for place_in_line, (name, case) in enumerate(chosen.items(), start=1):
            begun, where = time.monotonic(), f"{name} ({place_in_line} of {len(chosen)})"
            results[name] = case(place, pairs, lambda words, where=where: say(f"{where}: {words}"))  # type: ignore[misc]
            took.append(f"{name} {time.monotonic() - begun:.0f} s")
    about |= {"took": f"{(time.monotonic() - started) / 60:.0f} min ({', '.join(took)})"}
    report.show(results, out)
    if json:
        json.write_text(report.as_json(results, about))
    if write:
        report.PAGE.write_text(report.page(report.PAGE.read_text(), results, about))


if __name__ == "__main__":
    run(benchmarks)
