"""Ratios of commands that are measured side by side, so that other load of the machine affects all of them."""

import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tools.benchmarks.measure import Command, Measurement, measure

RESAMPLES = 2000
CONFIDENCE = 0.95

Quantity = Literal["wall", "cpu", "memory"]
"""What is measured."""

Say = Callable[[str], None]
"""Takes a line about what is under way."""


@dataclass(frozen=True)
class Estimate:
    """A median and the interval that holds it with 95 % confidence."""

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Series:
    """What one command took, a measurement a round."""

    rounds: tuple[Measurement, ...]

    def median(self, what: Quantity) -> float:
        """Return the median over the rounds."""
        return float(statistics.median(getattr(each, what) for each in self.rounds))

    def over(self, floor: "Series", what: Quantity) -> Estimate:
        """Return the ratio to ``floor``, taken round by round."""
        pairs = zip(self.rounds, floor.rounds, strict=True)
        return estimate([getattr(subject, what) / getattr(base, what) for subject, base in pairs])


def interleave(commands: Mapping[str, Command], rounds: int, say: Say, *, warm_up: bool = True) -> dict[str, Series]:
    """Measure the commands in turn, A B C A B C, and return a series for each.

    Parameters
    ----------
    commands
        By name.
    rounds
        How often each is measured.
    say
        Called before each command.
    warm_up
        Run one more round first and drop it: it fills the caches of disk and bytecode. Default true.
    """
    kept: dict[str, list[Measurement]] = {name: [] for name in commands}
    for turn in range(-1 if warm_up else 0, rounds):
        for name, command in commands.items():
            say(f"{name}, {f'round {turn + 1} of {rounds}' if turn >= 0 else 'warming up'}")
            measured = measure(command)
            if turn >= 0:
                kept[name].append(measured)
    return {name: Series(tuple(series)) for name, series in kept.items()}


def estimate(values: Sequence[float]) -> Estimate:
    """Return the median with its bootstrap interval (percentiles of the medians of resamples).

    The same values always yield the same interval. With few values it is about their whole range.
    """
    source = random.Random(0)  # noqa: S311 statistics, no secret
    medians = sorted(statistics.median(source.choices(values, k=len(values))) for _ in range(RESAMPLES))
    tail = int(RESAMPLES * (1 - CONFIDENCE) / 2)
    return Estimate(statistics.median(values), medians[tail], medians[-tail - 1])
