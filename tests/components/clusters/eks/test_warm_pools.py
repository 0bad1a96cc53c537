from typing import Any

import pytest

from support.eks import NODE_GROUP, build, built


def warm_pools(changes: dict[str, Any]) -> dict[str, Any]:
    groups = build(changes).of_type(NODE_GROUP)
    return {name: group["warmPoolConfig"] for name, group in groups.items() if group.get("warmPoolConfig")}


def test_without_one_nothing_stands_by() -> None:
    assert not any("warmPoolConfig" in group for group in built().of_type(NODE_GROUP).values())


@pytest.mark.parametrize(("state", "word"), [(None, "STOPPED"), ("running", "RUNNING")])
def test_it_has_a_size_of_its_own_whatever_the_size_of_the_group(state: str | None, word: str) -> None:
    warm = {"nodes": 3, **({"state": state} if state else {})}
    assert warm_pools({"pools.workload.warmPool": warm}) == {
        "test-workload": {"minSize": 3, "maxGroupPreparedCapacity": 3, "poolState": word}
    }


def test_groups_of_several_zones_share_it() -> None:
    found = warm_pools({"pools.jupyter.warmPool": {"nodes": 2}})
    assert {name: each["minSize"] for name, each in found.items()} == {"test-jupyter-a": 1, "test-jupyter-b": 1}
