"""What goes wrong in a cloud while a stack changes, as cases that the emulator's fault rules make."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emulators.core.faults import Rule


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


def together(*cases: Case) -> Case:
    """Return all at once of what nobody notices."""
    return Case(cases[0].pool, tuple(rule for case in cases for rule in case.rules))
