"""What the rules cost: both packs in this process, over as many rules of the same types that check nothing."""

import gc
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from policies.examples import Given
from policies.pack_harness import Wire, request, stack_request
from policies.registry import RULES
from policies.rule import EachOf, Pack, Rule
from tools.benchmarks.arena import Arena
from tools.benchmarks.cases.growth import DEPARTURE, departure
from tools.benchmarks.estate import looked_at, multiplied, planned
from tools.benchmarks.findings import Aim, Finding, Value
from tools.benchmarks.pairs import Say, estimate

COPIES = (1, 3, 6, 18)
"""How often the stack stands in the estate: up to about 3,000 resources, always in the same mixture."""
ROUNDS = 5
LINEAR = Aim(DEPARTURE, 0.02, "deviation of the packs' CPU from a straight line up to 3,000 resources")


class Packs:
    """Both packs, each behind a separate servicer, as the engine runs them: both evaluate every resource."""

    def __init__(self, rules: Sequence[Rule[Any]]) -> None:
        self._servicers = [Wire(rule for rule in rules if rule.pack is pack).servicer for pack in Pack]

    def judge(self, resources: Sequence[Given]) -> float:
        """Return the seconds of CPU that the answers about each resource and about the whole stack take.

        The questions are made before: they are the engine's work.
        """
        questions, whole = [request(resource) for resource in resources], stack_request(resources)
        gc.collect()  # the questions' garbage is not part of the measurement
        started = time.process_time()
        for servicer in self._servicers:
            for question in questions:
                servicer.Analyze(question, None)
            servicer.AnalyzeStack(whole, None)
        return time.process_time() - started


def rules(arena: Arena, rounds: int | None, say: Say) -> list[Finding]:
    """Measure estates of several sizes; there is no engine, and no process is started."""
    stack = planned(arena)
    estates = [multiplied(stack, copies) for copies in COPIES]
    own, floor = Packs(RULES), Packs([looking_at_nothing(rule) for rule in RULES])
    taken: list[list[tuple[float, float]]] = [[] for _ in estates]
    rounds = rounds or ROUNDS
    for turn in range(-1, rounds):
        which = f"round {turn + 1} of {rounds}" if turn >= 0 else "warming up"
        for resources, pairs in zip(estates, taken, strict=True):
            say(f"{len(resources)} resources, {which}")
            pair = own.judge(resources), floor.judge(resources)
            if turn >= 0:
                pairs.append(pair)
    return lines(estates, taken)


def looking_at_nothing(rule: Rule[Any]) -> Rule[Any]:
    """Return a rule that the same resources are shown to and that finds nothing."""
    scope = rule.applies_to
    if isinstance(scope, EachOf):
        scope = EachOf(scope.noun, scope.types, find=lambda resource: (resource,))
    return replace(rule, applies_to=scope, check=lambda *_: iter(()))


def lines(estates: Sequence[Sequence[Given]], taken: Sequence[Sequence[tuple[float, float]]]) -> list[Finding]:
    """Return a line for each size and one for how straight the growth is.

    Parameters
    ----------
    estates
        The resources of each size.
    taken
        For each size a pair a round: seconds of CPU of our rules, and of rules that check nothing.
    """
    counts = [len(resources) for resources in estates]
    medians = [[statistics.median(side) for side in zip(*pairs, strict=True)] for pairs in taken]
    by_size = []
    for resources, pairs, both in zip(estates, taken, medians, strict=True):
        values: dict[str, Value] = {
            "CPU": estimate([own / floor for own, floor in pairs]),
            "CPU s": " / ".join(f"{seconds:.2f}" for seconds in both),
            "µs a resource": _micro(both, len(resources)),
            "µs a rule and resource": _micro(both, len(resources) * len(RULES)),
            "rules": len(RULES),
            "judgements": sum(looked_at(resources).values()),
        }
        by_size.append(Finding(f"{len(resources):,} resources: our rules / rules that check nothing", values))
    straight: dict[str, Value] = {DEPARTURE: departure(counts, [own for own, _ in medians])}
    return [*by_size, Finding(f"our rules, {counts[0]} to {counts[-1]:,} resources", straight, LINEAR)]


def _micro(seconds: Sequence[float], parts: int) -> str:
    return " / ".join(f"{each / parts * 1e6:.1f}" for each in seconds)
