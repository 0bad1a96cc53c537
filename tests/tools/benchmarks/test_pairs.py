import os
import random
import statistics
import sys
from pathlib import Path

import pytest

from tools.benchmarks.measure import Command, Measurement
from tools.benchmarks.pairs import Estimate, Series, estimate, interleave


def series(*cpu: float) -> Series:
    return Series(tuple(Measurement(wall=2 * each, cpu=each, memory=100 * each) for each in cpu))


def appending(folder: Path, word: str) -> Command:
    return Command((sys.executable, "-c", f"open('order', 'a').write({word!r})"), folder, dict(os.environ))


def test_commands_are_interleaved_and_the_first_round_is_dropped(tmp_path: Path) -> None:
    told: list[str] = []
    commands = {"subject": appending(tmp_path, "s"), "floor": appending(tmp_path, "f")}
    measured = interleave(commands, 2, told.append)
    assert (tmp_path / "order").read_text() == "sfsfsf"
    assert {name: len(each.rounds) for name, each in measured.items()} == {"subject": 2, "floor": 2}
    assert told[0] == "subject, warming up"
    assert told[-1] == "floor, round 2 of 2"


def test_without_a_warm_up_every_round_counts(tmp_path: Path) -> None:
    [measured] = interleave({"only": appending(tmp_path, "o")}, 2, lambda _: None, warm_up=False).values()
    assert (tmp_path / "order").read_text() == "oo"
    assert len(measured.rounds) == 2


def test_a_ratio_is_taken_round_by_round() -> None:
    # The machine was ten times slower in the third round: the ratio of the medians would be 20 / 2.
    assert series(2, 20, 40).over(series(1, 2, 20), "cpu").median == 2
    assert series(2, 20, 40).over(series(1, 2, 20), "wall") == series(2, 20, 40).over(series(1, 2, 20), "memory")


def test_series_of_different_length_are_no_pairs() -> None:
    with pytest.raises(ValueError, match="zip"):
        series(1, 2).over(series(1), "cpu")


def test_the_interval_of_known_samples_is_the_one_of_theory() -> None:
    """The exact interval of a median: order statistics 40 and 61 of 100 (Hahn and Meeker, nonparametric interval)."""
    values = list(range(1, 101))
    random.Random(1).shuffle(values)  # noqa: S311 statistics, no secret
    found = estimate(values)
    assert found.median == 50.5
    assert found.low == pytest.approx(40, abs=1.5)
    assert found.high == pytest.approx(61, abs=1.5)


def test_the_interval_holds_the_true_median_about_as_often_as_it_says() -> None:
    source = random.Random(2)  # noqa: S311 statistics, no secret
    held = 0
    for _ in range(100):
        found = estimate([source.gauss(2, 0.5) for _ in range(15)])
        held += found.low <= 2 <= found.high
    assert 88 <= held <= 100


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert estimate([1.5] * 5) == Estimate(1.5, 1.5, 1.5)


def test_the_same_values_yield_the_same_interval() -> None:
    values = [1.1, 1.3, 1.2, 1.9, 1.0]
    found = estimate(values)
    assert found == estimate(values)
    assert found.median == statistics.median(values)
    assert min(values) <= found.low < found.high <= max(values)
