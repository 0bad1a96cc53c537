"""`igz-clusters report`: show what a change does and whether it passes."""

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
"""Columns of a terminal report that is written to a file."""


class Format(StrEnum):
    """Output formats."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"
    SARIF = "sarif"


def _html(found: Report) -> str:
    from workbench.report import html  # noqa: PLC0415 its parser would slow down every other command

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
        typer.Argument(help="Folders that `review` wrote, or event streams that `--events` wrote.", metavar="PATH..."),
    ],
    *,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = Format.TERMINAL,
    output: Annotated[
        Path | None, typer.Option(help="File to write. Default: standard output.", metavar="FILE")
    ] = None,
) -> None:
    """Show and judge a planned or finished change.

    A bare event stream is judged with the approvals in policies/overrides.yaml of the folder of the stack files. Exit
    code 0: it passes or its owners must review it, 1: it is blocked, 3: it could not be judged.
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
        raise UserError(f"--output {output}: cannot write: {error.strerror}.") from None
