"""Errors of files that cannot be replayed."""

from pathlib import Path
from typing import Final

from workbench.system.errors import UserError

CHOOSE: Final = "Choose a part of it with --from and --to."


class ReplayError(UserError):
    """A file cannot be replayed; the message names file and line, what is expected there, and what to do.

    Parameters
    ----------
    file
        The file.
    problem
        What is wrong, without the file's own text: that may hold secrets.
    hint
        What to do.
    line
        Line of the file; None for the file as a whole.
    """

    def __init__(self, file: Path, problem: str, hint: str = "", *, line: int | None = None) -> None:
        self.file = file
        self.line = line
        where = f"{file}, line {line}" if line is not None else str(file)
        super().__init__(f"{where}: {problem}", hint)


class UnfitError(Exception):
    """The content of a file cannot become a valid scenario.

    Parameters
    ----------
    problem
        What is wrong.
    hint
        What to do. Default: choose a part of the file.
    """

    def __init__(self, problem: str, hint: str = CHOOSE) -> None:
        self.problem, self.hint = problem, hint
        super().__init__(problem)
