"""Runs a command of this package."""

import sys
from collections.abc import Callable

import typer

from workbench.cli.console import errors
from workbench.system.errors import UserError


def run(command: Callable[..., None]) -> None:
    """Run a command line; mistakes of the user end with exit code 1 and no traceback."""
    try:
        typer.run(command)
    except UserError as error:
        errors.print(f"error: {error}", markup=False, highlight=False, soft_wrap=True)
        sys.exit(1)
