"""Findings as tables: on the terminal, as JSON, and as the generated part of the page."""

import json
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import groupby

import psutil
from rich.console import Console

from tools.benchmarks.findings import Finding, Value
from tools.benchmarks.pairs import Estimate
from workbench.system.errors import UserError
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import status

PAGE = PROJECT_ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

Results = Mapping[str, Sequence[Finding]]
"""Findings by case."""


def machine() -> dict[str, str]:
    """Return date, machine and versions, for readers who compare results."""
    versions = {row.name: row.version for row in status()}
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": f"{os.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB, {platform.system()}",
        "Python": platform.python_version(),
        "Pulumi": versions["pulumi"],
        "load before": f"{os.getloadavg()[0]:.1f}",
    }


def show(results: Results, console: Console) -> None:
    """Print two lines a finding: what is compared, with the verdict, and the values."""
    for case, findings in results.items():
        console.print(f"\n{case}", style="bold")
        for finding in findings:
            aim = f": {finding.aim.value} at most {finding.aim.at_most}" if finding.aim else ""
            values = "   ".join(f"{name} {_text(value)}" for name, value in finding.values.items())
            for line in (f"{finding.name}   {finding.verdict}{aim}", f"  {values}"):
                console.print(line, soft_wrap=True, markup=False, highlight=False)


def as_json(results: Results, about: Mapping[str, str]) -> str:
    """Return all numbers, for scripts."""
    cases = {case: [{**asdict(f), "verdict": f.verdict} for f in findings] for case, findings in results.items()}
    return json.dumps({"about": about, "cases": cases}, indent=1, ensure_ascii=False)


def page(current: str, results: Results, about: Mapping[str, str], markers: tuple[str, str] = (BEGIN, END)) -> str:
    """Return the page's text with a generated part renewed.

    Parameters
    ----------
    markers
        The lines around it. Default: those of the cases that run together.

    Raises
    ------
    UserError
        The page has lost its markers.
    """
    begin, end = markers
    block = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not block.search(current):
        raise UserError(f"{PAGE.relative_to(PROJECT_ROOT)} lacks the lines {begin} and {end}.")
    parts = [begin, ", ".join(f"{key}: {value}" for key, value in about.items()) + ".", *_aims(results)]
    for case, findings in results.items():
        parts.extend([f"### {case}"] if len(results) > 1 else [])
        parts.extend(_markdown(header, rows) for header, rows in _tables(findings))
    return block.sub(lambda _: "\n\n".join([*parts, end]), current)


def _aims(results: Results) -> Iterator[str]:
    """Yield the table of aims, if there are any."""
    rows = [
        [
            finding.aim.words,
            finding.name,
            str(finding.aim.at_most),
            _text(finding.values[finding.aim.value]),
            finding.verdict,
        ]
        for findings in results.values()
        for finding in findings
        if finding.aim
    ]
    if rows:
        yield _markdown(["aim", "measured on", "at most", "measured", "verdict"], rows)


def _tables(findings: Iterable[Finding]) -> list[tuple[list[str], list[list[str]]]]:
    """Return header and rows; neighbours that have the same values share a table."""
    tables = []
    for names, group in groupby(findings, key=lambda finding: list(finding.values)):
        rows = [[finding.name, *map(_text, finding.values.values())] for finding in group]
        tables.append((["", *names], rows))
    return tables


def _text(value: Value) -> str:
    match value:
        case Estimate():
            return f"{value.median:.2f} [{value.low:.2f}, {value.high:.2f}]"
        case float():
            return f"{value:.4f}"
        case _:
            return str(value)


def _markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
