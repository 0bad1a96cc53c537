import pytest

from policies.examples import Given
from policies.pack_harness import Wire
from policies.registry import RULES
from tools.benchmarks.cases.growth import DEPARTURE
from tools.benchmarks.cases.rules import Packs, lines, looking_at_nothing
from tools.benchmarks.pairs import Estimate

GROUP = Given("aws:eks/nodeGroup:NodeGroup", "bare", {}, {})


def test_a_rule_that_looks_at_nothing_is_shown_the_same_and_finds_nothing() -> None:
    blind = [looking_at_nothing(rule) for rule in RULES]
    assert [(rule.id, rule.pack, type(rule.applies_to)) for rule in blind] == [
        (rule.id, rule.pack, type(rule.applies_to)) for rule in RULES
    ]
    assert Wire(RULES).judge_stack([GROUP]).messages
    assert not Wire(blind).judge_stack([GROUP]).messages


def test_judging_takes_time_that_grows_with_the_resources() -> None:
    packs = Packs(RULES)
    assert 0 < packs.judge([GROUP] * 5) < packs.judge([GROUP] * 500)


def test_lines_show_the_ratio_and_the_share_of_one_rule_and_resource() -> None:
    estates = [[GROUP] * size for size in (100, 200, 400)]
    seconds = [[(2e-4 * len(RULES) * len(each), 1e-4 * len(RULES) * len(each))] * 2 for each in estates]
    *by_size, straight = lines(estates, seconds)
    assert [line.values["CPU"] for line in by_size] == [Estimate(2, 2, 2)] * 3
    assert {line.values["µs a rule and resource"] for line in by_size} == {"200.0 / 100.0"}
    assert straight.values[DEPARTURE] == pytest.approx(0)
    assert straight.verdict == "met"


def test_growth_with_the_square_misses_the_aim() -> None:
    estates = [[GROUP] * size for size in (100, 200, 400)]
    squared = [[(float(len(each) ** 2), 1.0)] * 2 for each in estates]
    assert lines(estates, squared)[-1].verdict == "missed"
