"""Output and prompts of commands: results go to standard output, everything else to standard error."""

import sys
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final, NoReturn

import typer
from rich.console import Console
from typing_extensions import override

from workbench.system.copying import discard, is_lost_terminal, unwritable
from workbench.system.errors import UserError

INTERRUPTED: Final = 130
"""Exit code after Ctrl-C, a signal, or when the reader of the output is gone. docs/exit-codes.md lists all codes."""

FAILED: Final = 1
"""Exit code of a command that failed, was refused or was declined."""


class _Console(Console):
    @override
    def on_broken_pipe(self) -> None:
        """End as after Ctrl-C when the reader of the output is gone."""
        discard(sys.stderr if self.stderr else sys.stdout)
        sys.exit(INTERRUPTED)

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what was printed; raises ``UserError`` if standard output cannot be written.

        Without its terminal the command continues: it may have to finish what it began.
        """
        try:
            super().__exit__(kind, error, trace)
        except OSError as failure:
            if is_lost_terminal(sys.stderr if self.stderr else sys.stdout, failure):
                return
            if self.stderr:
                raise
            raise unwritable(failure) from None


out = _Console(emoji=False)
"""Results. Colours only on a terminal."""

errors = _Console(stderr=True, emoji=False)
"""Progress, notes and errors, so that output can be piped."""

PLAIN: Final[dict[str, Any]] = {"soft_wrap": True, "markup": False, "highlight": False}
"""Options that print untrusted text as it is, without breaking lines."""


def agree(question: str, *, unchanged: str = "nothing changed") -> None:
    """Ask a yes-or-no question on the terminal and return if the answer is yes.

    Parameters
    ----------
    question
        Without the list of answers.
    unchanged
        What to say without a terminal. Default: ``nothing changed``.

    Raises
    ------
    UserError
        There is no terminal.
    typer.Exit
        The answer is no.
    KeyboardInterrupt
        Ctrl-C.
    """
    if not sys.stdin.isatty():
        raise UserError(f"Cannot prompt without a terminal; {unchanged}.", "Run the command again with --yes.")
    errors.print(f"{question} [y/N]: ", end="", **PLAIN)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        errors.print("Declined.")
        raise typer.Exit(FAILED)


def leave(code: int) -> NoReturn:
    """End the command with the exit code that corresponds to the engine's: 0, 1 or 130."""
    raise typer.Exit(code if code in (0, INTERRUPTED) else FAILED)


def row_of_fields(fields: Iterable[str]) -> None:
    """Print fields on one line, separated by tabs, for programs such as `cut`."""
    try:
        out.file.write("\t".join(fields) + "\n")
        out.file.flush()
    except BrokenPipeError:
        out.on_broken_pipe()
