"""Errors that are shown to the user without a traceback."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from typing_extensions import override


class AskedToEnd(KeyboardInterrupt):
    """A termination signal for this process; Ctrl-C in a terminal reaches all processes of a command."""


class HungUp(AskedToEnd):
    """The terminal is gone. Unlike a second Ctrl-C, this does not mean to abort what was already asked to end."""


class UserError(Exception):
    """A mistake or a missing precondition that the user can fix; shown without a traceback.

    Parameters
    ----------
    message
        What is wrong and where.
    hint
        What to do next. Empty if the message already says so.
    """

    exit_code: ClassVar[int] = 1
    """Exit code of the command."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @override
    def __str__(self) -> str:
        """Return message and hint, one line each."""
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class NoVerdictError(UserError):
    """What an evaluation needs is missing, so it ends without a verdict."""

    exit_code = 3


def all_of(*steps: Callable[[], Any]) -> list[Any]:
    """Return the results of all steps.

    Raises
    ------
    UserError
        Some fail: the errors of all of them, a line each.
    """
    results: list[Any] = []
    failed: list[UserError] = []
    for step in steps:
        try:
            results.append(step())
        except UserError as error:
            failed.append(error)
    refuse(failed)
    return results


def refuse(problems: Iterable[UserError]) -> None:
    """Raise one ``UserError`` that lists all problems, a line each; return if there are none."""
    if texts := dict.fromkeys(map(str, problems)):
        raise UserError("\n".join(texts))
