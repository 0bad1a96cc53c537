"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

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
    """Return a file's path after emptying it, so that a failure never leaves the events of an earlier run there.

    Raises
    ------
    typer.BadParameter
        It cannot be written. Exit code 2 for all commands: 1 is a result of `drift`.
    """
    if not file:
        return None
    if file.exists() and not file.is_file():
        raise typer.BadParameter(f"{file} is not a regular file; specify one, whose content is replaced")
    try:
        write_private(file, "")
    except OSError as error:
        raise typer.BadParameter(f"cannot write {file}: {error.strerror}") from None
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
