"""`igz-clusters review`: review a change of stacks before it is merged."""

import threading
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from infra.config.problems import printable
from workbench.cli.console import errors, out
from workbench.cli.options import Hermetic
from workbench.engine.render import TOOLS
from workbench.report import record as records
from workbench.report import rehearsed, terminal
from workbench.review.review import Review
from workbench.stacks import stack_files
from workbench.toolchain import ensure
from workbench.toolchain.console import progress

_LINE_MAX: Final = 2_000
_MARGIN: Final = "         | "
"""Prefix of all lines but the first: GitHub's runner executes a line that begins with two colons."""


def review(  # noqa: PLR0913 one parameter for each option
    stacks: Annotated[
        list[str] | None,
        typer.Argument(help="Stacks to review. Default: those that the change can affect.", metavar="STACK"),
    ] = None,
    *,
    head: Annotated[
        Path,
        typer.Option(help="Checkout of the change: folder of its stack files.", metavar="DIR", show_default=False),
    ],
    record: Annotated[
        Path, typer.Option(help="New folder for the record that `report` reads.", metavar="DIR", show_default=False)
    ],
    compared: Annotated[
        bool,
        typer.Option(
            "--compared",
            help="Plan with your backend and credentials. The change's code can then read them. Default: use neither.",
        ),
    ] = False,
    rehearsal: Annotated[
        Path | None,
        typer.Option(help="JSON of a rehearsal of the change, to show what it costs.", metavar="FILE"),
    ] = None,
    hermetic: Hermetic = False,
) -> None:
    """Review a change before it is merged.

    Run it in a checkout of the base branch. It plans every affected stack with the change's own program, starting from
    the base branch's stack, and judges the plan twice: by the change's policies and waivers, and by those of the base
    branch. Exit code 0: it may be merged, 1: it is blocked, 3: it could not be judged.
    """
    rehearsals = rehearsed.read(rehearsal, stack_files(head)) if rehearsal else {}
    with progress(errors) as report:
        toolchain = ensure(TOOLS, hermetic=hermetic, progress=report)
    Review(head, toolchain, compared=compared, tell=_Teller(), rehearsals=rehearsals).write(record, stacks or ())
    found = records.read(record)
    terminal.show(found, out)
    raise typer.Exit(found.outcome.exit_code)


class _Teller:
    """Prints lines with the seconds since the start, from any thread.

    A line may quote output of the change's own code, so control characters are escaped.
    """

    def __init__(self) -> None:
        self._start, self._lock = time.monotonic(), threading.Lock()

    def __call__(self, line: str) -> None:
        with self._lock:
            first, *more = (printable(each, _LINE_MAX) for each in line.splitlines() or [""])
            timed = f"{time.monotonic() - self._start:5.0f} s  {first}"
            text = "\n".join([timed, *(f"{_MARGIN}{each}" for each in more)])
            errors.print(text, markup=False, highlight=False, soft_wrap=True)
