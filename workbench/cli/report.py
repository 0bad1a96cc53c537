"""`igz-clusters report`: what a change comes to, and whether it may be made."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from workbench.cli.console import errors, out
from workbench.report import as_json, markdown, record, sarif, terminal
from workbench.report.model import Report
from workbench.stacks import policy_overrides
from workbench.system.errors import UserError

WIDTH: Final = 120
"""Columns of a report for the terminal that goes into a file."""


class Format(StrEnum):
    """How a report is rendered."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"
    SARIF = "sarif"


def _html(found: Report) -> str:
    from workbench.report import html  # noqa: PLC0415 loading its parser would slow every other command down

    return html.render(found)


RENDERINGS: Final[Mapping[Format, Callable[[Report], str]]] = {
    Format.MARKDOWN: markdown.render,
    Format.HTML: _html,
    Format.JSON: as_json.render,
    Format.SARIF: sarif.render,
}


def report(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Folders that `review` wrote, or event streams: files that `--events` wrote.", metavar="PATH..."
        ),
    ],
    *,
    form: Annotated[Format, typer.Option("--format", help="How it is rendered.")] = Format.TERMINAL,
    output: Annotated[
        Path | None, typer.Option(help="File to write it to. Default: standard output.", metavar="FILE")
    ] = None,
) -> None:
    """Show what a planned or finished change comes to, and judge it.

    Exit code 0 if nothing speaks against it or its owners must look, 1 if it is refused, 3 if it could not be judged.
    A bare event stream is judged with the approvals in policies/overrides.yaml of the folder of the stack files.
    """
    approvals = [] if all(path.is_dir() for path in paths) else policy_overrides.read().approvals
    found = record.merged(record.read(path, approvals) for path in paths)
    if output is None:
        _print(found, form)
    else:
        _write(found, form, output)
        errors.print(f"Written to {output}.", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(found.outcome.exit_code)


def _print(found: Report, form: Format) -> None:
    if form is Format.TERMINAL:
        terminal.show(found, out)
    else:
        out.print(RENDERINGS[form](found), end="", markup=False, highlight=False, soft_wrap=True)


def _write(found: Report, form: Format, output: Path) -> None:
    try:
        with output.open("w", encoding="utf-8") as file:
            if form is Format.TERMINAL:
                terminal.show(found, Console(file=file, width=WIDTH, emoji=False))
            else:
                file.write(RENDERINGS[form](found))
    except OSError as error:
        raise UserError(f"--output {output}: cannot be written: {error.strerror}.") from None
