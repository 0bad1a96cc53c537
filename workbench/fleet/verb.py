"""The commands that can run on many stacks, and the names of their results."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Verb(StrEnum):
    """A command that runs on each stack."""

    PREVIEW = "preview"
    UP = "up"
    DRIFT = "drift"
    VERIFY = "verify"
    ACCEPT = "accept"

    @property
    def is_change(self) -> bool:
        """Whether it creates or changes clusters: then waves wait for each other, and failures stop later ones."""
        return self in (Verb.UP, Verb.ACCEPT)

    @property
    def is_comparison(self) -> bool:
        """Whether exit code 1 means that a cluster differs, so that everything else that goes wrong is 3."""
        return self in (Verb.DRIFT, Verb.VERIFY)


class Result(StrEnum):
    """How far a command on a stack is."""

    WAITING = "waiting"
    """It has not run, or runs again."""

    RUNNING = "running"
    """It runs, or was killed together with this program."""

    OK = "ok"
    """Exit code 0."""

    FAILED = "failed"
    """It failed or was refused; for `drift` and `verify`, the cluster differs."""

    UNJUDGED = "unjudged"
    """`drift` and `verify` only: the cluster could not be compared, or sleeps outside its office hours."""

    INTERRUPTED = "interrupted"
    """It was asked to end before it was finished."""

    @property
    def is_bad(self) -> bool:
        """Whether it counts as a failure of its wave."""
        return self in (Result.FAILED, Result.UNJUDGED)


WORDS: Final[Mapping[Verb, tuple[str, str]]] = {
    Verb.PREVIEW: ("plan passed", "failed or refused"),
    Verb.UP: ("updated", "failed"),
    Verb.DRIFT: ("unchanged", "drifted"),
    Verb.VERIFY: ("compliant", "deviating"),
    Verb.ACCEPT: ("passed", "failed"),
}
"""What ``OK`` and ``FAILED`` mean for each command."""


def words(verb: Verb, result: Result) -> str:
    """Return a result in words."""
    if result in (Result.OK, Result.FAILED):
        return WORDS[verb][result is Result.FAILED]
    return "no verdict" if result is Result.UNJUDGED else result.value


def result_of(verb: Verb, code: int, *, interrupted: bool) -> Result:
    """Return the result of a process that has ended.

    Parameters
    ----------
    verb
        Its command.
    code
        Its exit code; negative if a signal ended it.
    interrupted
        Whether the whole run was asked to end. Otherwise a process that was stopped has failed, and
        no other stack may follow it.
    """
    if not code:
        return Result.OK
    if interrupted:
        return Result.INTERRUPTED
    return Result.FAILED if not verb.is_comparison or code == 1 else Result.UNJUDGED
