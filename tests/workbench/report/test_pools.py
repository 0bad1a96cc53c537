from typing import Any

import pytest

from support.event_lines import events, lines, resource
from support.streams import stream
from workbench.prices.stack_cost import HOURS_A_MONTH
from workbench.report.events import read
from workbench.report.model import Hours, Outcome, PoolChange, ResourceHours, Source
from workbench.report.pools import Group, UnreadableError, before_and_after, differences, node_hours, resource_hours
from workbench.report.verdict import Case, judge

STACK = "igz-clusters-prod"


def pools(name: str) -> tuple[PoolChange, ...]:
    before, after = before_and_after(read(stream(name)))
    return differences(before, after or {})


def test_in_a_first_creation_every_pool_is_new() -> None:
    assert pools("first") == (
        PoolChange("initial", "pool", "", "initial, on-demand, 2, m6i.xlarge"),
        PoolChange(
            "spot",
            "pool",
            "",
            "workload, spot, 0..20, m6i.2xlarge, m5.2xlarge, m5a.2xlarge, "
            "taint app.iguazio.com/lifecycle=preemptible:NoSchedule",
        ),
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
    expected = Hours(3 * HOURS_A_MONTH, 32 * HOURS_A_MONTH, 3 * HOURS_A_MONTH, 34 * HOURS_A_MONTH)
    assert node_hours(before, after) == expected
    first = before_and_after(read(stream("first")))
    assert node_hours(first[0], first[1] or {}).least_before is None


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
    assert [(each.pool, each.what) for each in differences(before, after or {})] == [
        ("initial", "lifecycle"),
        ("initial", "role"),
        ("initial", "taints"),
        ("initial", "types"),
        ("spot", "pool"),
    ]


@pytest.mark.parametrize("wrong", [1, "x", [1], [{"name": "x"}], {"a": 1}, {"a": {}}, None])
def test_an_output_that_is_not_a_map_of_groups_is_not_passed_over(wrong: Any) -> None:
    content = read(edited(lambda outputs: outputs.update(pools=wrong)))
    with pytest.raises(UnreadableError):
        before_and_after(content)
    found = judge(Case("prod", Source.COMPARED, content))
    assert found.outcome is Outcome.UNJUDGED
    assert found.problems == ("the stack's output 'pools' is not a map of node groups by name",)


def group(pool: str, largest: int, **more: Any) -> Group:
    said = {"role": "workload", "lifecycle": "on-demand", "instanceTypes": ["x"], "labels": {}, "taints": []}
    return Group.model_validate({**said, "pool": pool, "min": 0, "max": largest, **more})


def test_a_larger_machine_is_seen_in_the_hours_of_what_it_offers() -> None:
    """Of g5.2xlarge and g6.12xlarge the same number of nodes are as many node-hours."""
    before = {"gpu": group("gpu", 4, vcpus=8, gpus=1, gpuModel="A10G")}
    after = {"gpu": group("gpu", 4, vcpus=48, gpus=4, gpuModel="L4")}
    assert node_hours(before, after) == Hours(0, 4 * HOURS_A_MONTH, 0, 4 * HOURS_A_MONTH)
    assert resource_hours(before, after) == (
        ResourceHours("vCPU", Hours(0, 32 * HOURS_A_MONTH, 0, 192 * HOURS_A_MONTH)),
        ResourceHours("A10G GPU", Hours(0, 4 * HOURS_A_MONTH, 0, 0)),
        ResourceHours("L4 GPU", Hours(0, 0, 0, 16 * HOURS_A_MONTH)),
    )


def test_an_output_of_an_earlier_release_says_nothing_of_what_its_nodes_offer() -> None:
    before, after = {"jobs": group("jobs", 4)}, {"jobs": group("jobs", 4, vcpus=8, gpus=0)}
    assert resource_hours(before, after) == (ResourceHours("vCPU", Hours(None, None, 0, 32 * HOURS_A_MONTH)),)
    assert resource_hours(None, before) == ()


def test_a_list_of_an_earlier_release_is_compared_by_pool() -> None:
    """It named the groups of a pool before zones and machine types divided them."""

    def change(outputs: dict[str, Any]) -> None:
        (spot,) = (each for each in outputs["pools"] if each["name"] == "spot")
        del spot["name"]
        zones = {f"spot-{zone}": spot for zone in "ab"}
        outputs["pools"] = {"workload": {**spot, "pool": "workload", "max": 12}, **zones}

    found = events("unchanged")
    last = [step for step in resource(found, STACK) if step["new"] and "pools" in step["new"]["outputs"]]
    old = next(step["old"]["outputs"]["pools"] for step in resource(found, STACK) if step.get("old"))
    change(last[-1]["new"]["outputs"])
    before, after = before_and_after(read(lines(found)))
    assert isinstance(old, list)
    assert before is not None
    assert after is not None
    assert before.keys() == {"initial", "workload", "spot-a", "spot-b"}
    changes = {(each.pool, each.what) for each in differences(before, after)}
    assert changes >= {("initial", "pool"), ("workload", "size")}
    assert not {pool for pool, _ in changes} & {"spot-a", "spot-b"}
