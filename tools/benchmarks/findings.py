"""What cases find, as data."""

from collections.abc import Mapping
from dataclasses import dataclass

from tools.benchmarks.pairs import Estimate, Series

Value = Estimate | float | int | str


@dataclass(frozen=True)
class Aim:
    """An upper bound of one value, from the design."""

    value: str
    """Which value of the finding it bounds."""
    at_most: float
    words: str
    """The aim as a sentence."""


@dataclass(frozen=True)
class Finding:
    """One line of a case's table."""

    name: str
    values: Mapping[str, Value]
    aim: Aim | None = None

    @property
    def verdict(self) -> str:
        """Whether the aim is met; ``open`` where the interval holds both answers."""
        if not self.aim:
            return ""
        value = self.values[self.aim.value]
        if isinstance(value, str):
            raise TypeError(f"{self.name}: an aim bounds a number, '{self.aim.value}' is a text")
        low, high = (value.low, value.high) if isinstance(value, Estimate) else (value, value)
        if low <= self.aim.at_most < high:
            return "open"
        return "met" if high <= self.aim.at_most else "missed"


def ratios(subject: Series, floor: Series) -> dict[str, Value]:
    """Return the three ratios of two series, and the seconds and megabytes behind them."""
    return {
        "CPU": subject.over(floor, "cpu"),
        "wall": subject.over(floor, "wall"),
        "memory": subject.over(floor, "memory"),
        "CPU s": _both(subject.median("cpu"), floor.median("cpu")),
        "wall s": _both(subject.median("wall"), floor.median("wall")),
        "MB": f"{subject.median('memory') / 1e6:.0f} / {floor.median('memory') / 1e6:.0f}",
    }


def _both(subject: float, floor: float) -> str:
    return f"{subject:.2f} / {floor:.2f}"
