"""How previews grow with the number of resources, over resources without our components."""

import statistics
from collections.abc import Sequence
from typing import Any

from infra.config import CONFIG_KEY
from tools.benchmarks.arena import INFRA, PLAIN, Arena
from tools.benchmarks.findings import Aim, Finding, Value, ratios
from tools.benchmarks.measure import Command
from tools.benchmarks.pairs import Say, Series, estimate, interleave
from tools.benchmarks.recording import record
from workbench import stacks

SIZES = (60, 400, 1000, 3000)
ROUNDS = 3
DEPARTURE = "1 - R²"
SLOPE = Aim("slope", 1.10, "CPU of one more resource, ours over by hand")
LINEAR = Aim(DEPARTURE, 0.02, "deviation of the CPU from a straight line up to 3,000 resources")

_FIXED, _EACH = 53, 8
"""Resources of the stack ``local`` without namespaces, and of one namespace."""


def growth(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure first previews on an empty state."""
    commands: dict[str, Command] = {}
    counts = []
    for size in SIZES:
        config = namespaces(size)
        recording = record(arena, config, arena.folder / f"growth-{size}.json")
        counts.append(recording.count)
        ours = arena.scratch(f"growth-{size}", INFRA, config=config)
        plain = arena.scratch(f"growth-plain-{size}", PLAIN, **recording.variables)
        commands |= {f"{size} resources": ours.preview(), f"{size} resources by hand": plain.preview()}
    # The quickest commands come first and fill the caches; a warm-up round would cost more than it improves.
    series = list(interleave(commands, rounds or ROUNDS, say, warm_up=False).values())
    return lines(counts, series[::2], series[1::2])


def namespaces(size: int) -> dict[str, Any]:
    """Return the choices of stack ``local`` with as many user namespaces as make about ``size`` resources."""
    choices: dict[str, Any] = dict(stacks.find("local").document["config"][CONFIG_KEY])
    return {**choices, "namespaces": {f"team-{index:04}": {} for index in range((size - _FIXED) // _EACH)}}


def lines(counts: Sequence[int], ours: Sequence[Series], plain: Sequence[Series]) -> list[Finding]:
    """Return a line for each size, one for the slopes, and one for how straight the growth is."""
    by_size = [
        Finding(f"{count:,} resources / by hand", ratios(own, other))
        for count, own, other in zip(counts, ours, plain, strict=True)
    ]
    slopes = [[_slope(counts, series, turn) for turn in range(len(ours[0].rounds))] for series in (ours, plain)]
    slope: dict[str, Value] = {
        "slope": estimate([own / other for own, other in zip(*slopes, strict=True)]),
        "CPU ms a resource": " / ".join(f"{1000 * statistics.median(slope):.1f}" for slope in slopes),
    }
    straight: dict[str, Value] = {DEPARTURE: departure(counts, [each.median("cpu") for each in ours])}
    span = f"{counts[0]} to {counts[-1]:,} resources"
    return [*by_size, Finding(f"{span} / by hand", slope, SLOPE), Finding(span, straight, LINEAR)]


def departure(counts: Sequence[int], seconds: Sequence[float]) -> float:
    """Return how far the seconds are from a straight line over the counts: 0 on it, 1 where there is no line."""
    return 1 - statistics.correlation(counts, seconds) ** 2


def _slope(counts: Sequence[int], series: Sequence[Series], turn: int) -> float:
    return statistics.linear_regression(counts, [each.rounds[turn].cpu for each in series]).slope
