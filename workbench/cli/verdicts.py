"""Errors of commands whose exit code 1 is a result, such as drift: to a script they must not look like one."""

from collections.abc import Iterator
from contextlib import contextmanager

from workbench.system.errors import NoVerdictError, UserError
from workbench.system.paths import problem_of


@contextmanager
def errors_are_no_verdict() -> Iterator[None]:
    """Raise every error that the user can fix as ``NoVerdictError``; for a block, or as a decorator of a command."""
    try:
        yield
    except UserError as error:
        raise NoVerdictError(error.message, error.hint) from None
    except OSError as error:
        if problem := problem_of(error):
            raise NoVerdictError(problem.message, problem.hint) from None
        raise
