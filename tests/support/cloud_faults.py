"""What goes wrong in a cloud while a stack changes, as cases that the emulator's fault rules make."""

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from emulators.core.faults import Rule, SlowRule
from support.cloud_account import CloudAccount

HELD: Final = 50.0
"""Seconds for which a call is held back at most. After a minute the plug-in would ask again."""


@dataclass(frozen=True)
class Case:
    """Something that goes wrong while a pool is added, and what a user reads about it.

    Parameters
    ----------
    pool
        Choices of the pool.
    rules
        Faults; ``{pool}`` in a pattern is the pool's name, as it is in ``said``.
    said
        Texts of the first `up`, which fails. None if it succeeds all the same.
    """

    pool: Mapping[str, Any]
    rules: tuple[Rule, ...]
    said: tuple[str, ...] = ()

    def faults(self, pool: str) -> list[Rule]:
        """Return the rules that meet the pool of this name."""
        return [rule.model_copy(update={"about": rule.about.replace("{pool}", pool)}) for rule in self.rules]

    def unsaid(self, pool: str, text: str) -> list[str]:
        """Return what should be in a text and is not."""
        return [words for words in self.said if words.format(pool=pool) not in text]


def calls_begun(made: CloudAccount, run: subprocess.Popen[str], operation: str, count: int, last: int) -> None:
    """Wait until the cloud was asked for so many calls of an operation since the call numbered ``last``."""
    while sum(call.operation == operation for call in made.emulator.calls(last)) < count:
        assert run.poll() is None, run.communicate()[0][-6000:]
        time.sleep(0.1)


def disturbed(
    made: CloudAccount,
    command: Sequence[str],
    rules: Sequence[Rule],
    *,
    begun: int = 1,
    creates: str = "",
    **variables: str,
) -> tuple[int, str]:
    """Run a command while faults hold; return its code and what it printed.

    Parameters
    ----------
    made
        Where it runs.
    command
        Arguments of ``igz-clusters``.
    rules
        The faults. None holds afterwards.
    begun
        How many calls of ``creates`` must have begun before any of them is answered: after the first failure the
        engine begins no other.
    creates
        Operation that makes a group of nodes. Default: none is waited for.
    variables
        Of the run, in addition to the account's own.
    """
    last = made.last
    held = [SlowRule(operation=creates, seconds=HELD)] if begun > 1 else []
    made.emulator.set_faults(*held, *rules)
    run = made.start(*command, **variables)
    if held:
        calls_begun(made, run, creates, begun, last)
        made.emulator.set_faults(*rules)
    printed, _ = run.communicate()
    made.emulator.set_faults()
    return run.returncode, printed


def together(*cases: Case) -> Case:
    """Return, all at once, the faults that the user does not notice."""
    return Case(cases[0].pool, tuple(rule for case in cases for rule in case.rules))
