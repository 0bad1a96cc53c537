from typing import Any

import pytest

from support.event_lines import events, lines, resource
from support.streams import stream
from workbench.report.events import read
from workbench.report.model import HOURS_A_MONTH, NodeHours, Outcome, PoolChange, Source
from workbench.report.pools import UnreadableError, before_and_after, differences, node_hours
from workbench.report.verdict import Case, judge

STACK = "igz-clusters-prod"


def pools(name: str) -> tuple[PoolChange, ...]:
    before, after = before_and_after(read(stream(name)))
    return differences(before, after or [])


def test_in_a_first_creation_every_pool_is_new() -> None:
    assert pools("first") == (
        PoolChange("initial", "pool", "", "initial, on-demand, 2, m6i.xlarge"),
        PoolChange("spot", "pool", "", "workload, spot, 0..20, m6i.2xlarge, m5.2xlarge, m5a.2xlarge"),
        PoolChange("workload", "pool", "", "workload, on-demand, 1..10, m6i.2xlarge"),
    )


def test_an_edit_is_told_in_the_words_of_the_contract() -> None:
    assert pools("larger") == (
        PoolChange("spot", "labels", "example.com/team=ml", "example.com/team=other"),
        PoolChange("workload", "size", "1..10", "1..12"),
    )
    assert pools("unchanged") == ()


def test_node_hours_are_those_of_all_pools() -> None:
    before, after = before_and_after(read(stream("larger")))
    assert after
    expected = NodeHours(3 * HOURS_A_MONTH, 32 * HOURS_A_MONTH, 3 * HOURS_A_MONTH, 34 * HOURS_A_MONTH)
    assert node_hours(before, after) == expected
    first = before_and_after(read(stream("first")))
    assert node_hours(first[0], first[1] or []).least_before is None


def edited(change: Any) -> bytes:
    found = events("unchanged")
    for step in resource(found, STACK):
        if step["new"] and "pools" in step["new"]["outputs"]:
            change(step["new"]["outputs"])
    return lines(found)


def test_every_fact_of_a_pool_is_compared() -> None:
    def change(outputs: dict[str, Any]) -> None:
        group = outputs["pools"][0]
        group |= {"role": "jupyter", "lifecycle": "spot", "instanceTypes": ["x"], "taints": ["a=b:NoSchedule"]}
        del outputs["pools"][1]

    before, after = before_and_after(read(edited(change)))
    assert [(each.pool, each.what) for each in differences(before, after or [])] == [
        ("initial", "lifecycle"),
        ("initial", "role"),
        ("initial", "taints"),
        ("initial", "types"),
        ("spot", "pool"),
    ]


@pytest.mark.parametrize("wrong", [1, "x", [1], [{"name": "x"}], {"a": 1}, None])
def test_an_output_that_is_no_list_of_groups_is_not_passed_over(wrong: Any) -> None:
    content = read(edited(lambda outputs: outputs.update(pools=wrong)))
    with pytest.raises(UnreadableError):
        before_and_after(content)
    found = judge(Case("prod", Source.COMPARED, content))
    assert found.outcome is Outcome.UNJUDGED
    assert found.problems == ("the stack's output 'pools' is no list of node groups",)
