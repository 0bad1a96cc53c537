"""`igz-clusters review`: what a change makes of every stack, before anybody merges it."""

import threading
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from infra.config.problems import printable
from workbench.cli.console import errors, out
from workbench.cli.recover import Hermetic
from workbench.engine.render import TOOLS
from workbench.report import record as records
from workbench.report import terminal
from workbench.review.review import Review
from workbench.toolchain import ensure
from workbench.toolchain.console import progress

_LINE_MAX: Final = 2_000
_MARGIN: Final = "         | "
"""Before all lines but the first: what begins a line with two colons is a command to GitHub's runner."""


def review(
    stacks: Annotated[
        list[str] | None,
        typer.Argument(help="Stacks to review. Default: those that the change can affect.", metavar="STACK"),
    ] = None,
    *,
    head: Annotated[
        Path, typer.Option(help="Checkout of the change: its folder of stack files.", metavar="DIR", show_default=False)
    ],
    record: Annotated[
        Path, typer.Option(help="New folder for the record, which `report` reads.", metavar="DIR", show_default=False)
    ],
    compared: Annotated[
        bool,
        typer.Option(
            "--compared",
            help="Plan with your backend and credentials, which the change's code then gets. Default: without any.",
        ),
    ] = False,
    hermetic: Hermetic = False,
) -> None:
    """Review a change from the branch that it goes to: plan every stack that it affects, judge it, report.

    Run it in a checkout of the base branch. The change's own program is planned onto what the base branch has, and
    judged twice: by its own policies and waivers, and by those of the base branch. Exit code 0: it may be merged, 1: it
    is refused, 3: it could not be judged.
    """
    with progress(errors) as report:
        toolchain = ensure(TOOLS, hermetic=hermetic, progress=report)
    Review(head, toolchain, compared=compared, tell=_Teller()).write(record, stacks or ())
    found = records.read(record)
    terminal.show(found, out)
    raise typer.Exit(found.outcome.exit_code)


class _Teller:
    """Prints lines with the seconds since the start; from any thread.

    A line may quote what the change's own code said: no terminal and no log of a workflow obeys it.
    """

    def __init__(self) -> None:
        self._start, self._lock = time.monotonic(), threading.Lock()

    def __call__(self, line: str) -> None:
        with self._lock:
            first, *more = (printable(each, _LINE_MAX) for each in line.splitlines() or [""])
            timed = f"{time.monotonic() - self._start:5.0f} s  {first}"
            text = "\n".join([timed, *(f"{_MARGIN}{each}" for each in more)])
            errors.print(text, markup=False, highlight=False, soft_wrap=True)
