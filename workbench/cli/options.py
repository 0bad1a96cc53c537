"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from workbench.system.errors import UserError
from workbench.system.files import write_private

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Hermetic = Annotated[bool, typer.Option("--hermetic", help="Use the pinned engine even if `pulumi` is on PATH.")]
StackName = Annotated[
    str,
    typer.Argument(
        help="Name of the stack: Pulumi.STACK.yaml in the folder, or in examples/STACK below it.", metavar="STACK"
    ),
]


def _fresh(file: Path | None) -> Path | None:
    """Return a file's path after emptying it, so that a failure never leaves the events of an earlier run there."""
    if not file:
        return None
    if file.exists() and not file.is_file():
        raise UserError(f"--events: {file} is not a regular file.", "Specify a regular file; its content is replaced.")
    try:
        write_private(file, "")
    except OSError as error:
        raise UserError(f"--events: cannot write {file}: {error.strerror}.") from None
    return file.absolute()


Events = Annotated[
    Path | None,
    typer.Option(
        "--events",
        metavar="FILE",
        callback=_fresh,
        help="Also write the engine's complete event stream to FILE, even if the run fails.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts, and nothing else, to standard output.")]
