"""Commands on the toolchain."""

from typing import Annotated

import typer
from rich.table import Table

from workbench.cli.console import errors, out
from workbench.toolchain import ensure, prune, store
from workbench.toolchain import status as rows
from workbench.toolchain.console import progress

app = typer.Typer(help="Build and show the pinned engine and control plane.", no_args_is_help=True)

Hermetic = Annotated[bool, typer.Option("--hermetic", help="Build the engine even if `pulumi` is on PATH.")]


@app.command()
def build(*, hermetic: Hermetic = False) -> None:
    """Build what is missing; interrupted builds continue."""
    with progress(errors) as report:
        ensure(hermetic=hermetic, progress=report)
    status()


@app.command()
def status() -> None:
    """Show every program with version, size and folder."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("program", "version", "state", "MB"):
        table.add_column(heading, no_wrap=True)
    for row in rows():
        size = f"{row.size / 1e6:.0f}" if row.built else ""
        table.add_row(row.name, row.version, "built" if row.built else "missing", size)
    out.print(table)
    out.print(f"\nin {store.home()}", soft_wrap=True, markup=False, highlight=False)


@app.command(name="prune")
def prune_() -> None:
    """Delete builds of other versions and of interrupted runs."""
    out.print(f"{prune() / 1e6:.0f} MB freed.")
