from dataclasses import replace

import pytest

from support import outcomes
from workbench.rehearsal.outcome import Cost
from workbench.rehearsal.report.comparison import Comparison, Row, compare


def rows(comparison: Comparison, about: str) -> dict[str, Row]:
    return {row.name: row for row in comparison.rows if row.about == about}


def test_an_expectation_that_becomes_met_is_an_improvement() -> None:
    comparison = compare(outcomes.night(), outcomes.night(gpu_max=6))
    changed = {name: (row.change, row.is_better) for name, row in rows(comparison, "expectation").items() if row.change}
    assert changed == {"train waits at most 40m": ("now met", True)}
    assert comparison.summary == "expectations: 1 now met"


def test_the_other_way_round_it_is_a_regression() -> None:
    comparison = compare(outcomes.night(gpu_max=6), outcomes.night())
    row = rows(comparison, "expectation")["train waits at most 40m"]
    assert (row.change, row.is_better) == ("now missed", False)
    assert rows(comparison, "usd")["total, USD"].is_better is True


def test_an_outcome_compared_with_itself_changes_nothing() -> None:
    comparison = compare(outcomes.night(), outcomes.night())
    assert {(row.change, row.is_better) for row in comparison.rows} == {("", None)}
    assert comparison.summary == "expectations: no change"


def test_waits_node_hours_and_money_show_their_difference() -> None:
    comparison = compare(outcomes.night(), outcomes.night(gpu_max=6), ("main", "HEAD"))
    assert (comparison.before, comparison.after) == ("main", "HEAD")
    assert rows(comparison, "wait")["train, longest wait"] == Row(
        about="wait", name="train, longest wait", before="1h40m", after="15m", change="-1h25m", is_better=True
    )
    assert rows(comparison, "node-hours")["pool gpu, node-hours"].change == "+2.9"
    money = rows(comparison, "usd")["total, USD"]
    assert (money.before, money.after, money.change, money.is_better) == ("9.28", "13.16", "+3.88", False)


def test_more_nodes_are_neither_better_nor_worse() -> None:
    row = rows(compare(outcomes.night(), outcomes.night(gpu_max=6)), "nodes")["pool gpu, most nodes"]
    assert (row.change, row.is_better) == ("+4", None)


def test_without_prices_no_difference_of_money_is_claimed() -> None:
    night = outcomes.night()
    assert night.costs
    for usd, shown in ((0.0, "-"), (3.0, "at least 3.00")):
        costs = replace(night.costs, total=Cost(node_hours=2, usd=usd, unpriced=("x",)))
        row = rows(compare(night, replace(night, costs=costs)), "usd")["total, USD"]
        assert (row.after, row.change) == (shown, "")


def test_a_skipped_side_is_said_and_has_no_figures() -> None:
    comparison = compare(outcomes.night(), outcomes.skipped())
    assert {row.change for row in rows(comparison, "expectation").values()} == {"one is skipped"}
    assert not rows(comparison, "wait")


def test_outcomes_of_different_scenarios_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="scenarios differ: training-night and notebooks"):
        compare(outcomes.night(), outcomes.calm())
