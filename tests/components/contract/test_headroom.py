from typing import Any

import pytest

from components.contract.allocatable import UPSTREAM
from components.contract.groups import by_zone, resolve_groups, spare_nodes
from components.contract.headroom import PRIORITY, PRIORITY_MIN, Headroom
from components.contract.instances import INSTANCE_TYPES
from components.contract.pools import NodePool
from components.contract.priorities import UserPriority

NODE = INSTANCE_TYPES["m6i.2xlarge"]
"""8 vCPUs and 32 GiB, of which 7.5 vCPUs and 29.9 GiB are left beside daemons."""


def headroom(pods: int = 1, cpu: str = "1", memory: str = "1Gi", gpus: int = 0) -> Headroom:
    return Headroom.model_validate({"pods": pods, "cpu": cpu, "memory": memory, "gpus": gpus})


def pool(size: tuple[int, int] = (0, 9), **choices: Any) -> NodePool:
    return NodePool.model_validate(
        {
            "role": "workload",
            "size": {"min": size[0], "max": size[1]},
            "instanceTypes": ["m6i.2xlarge"],
            "headroom": {"pods": 4, "cpu": "3", "memory": "1Gi"},
            **choices,
        }
    )


@pytest.mark.parametrize(
    ("room", "nodes"),
    [
        (headroom(7, cpu="1"), 1),  # seven fit beside the daemons, the eighth does not
        (headroom(8, cpu="1"), 2),
        (headroom(4, memory="14Gi"), 2),
        (headroom(5, memory="14Gi"), 3),
        (headroom(1, cpu="7500m"), 1),
        (headroom(1, cpu="7600m"), 0),
        (headroom(1, memory="31Gi"), 0),
        (headroom(1, gpus=1), 0),
    ],
)
def test_the_room_takes_as_many_nodes_as_the_scarcest_resource_says(room: Headroom, nodes: int) -> None:
    assert room.nodes(NODE, NODE.gpus, UPSTREAM) == nodes


def test_gpus_are_counted_whole() -> None:
    assert headroom(5, gpus=2).nodes(INSTANCE_TYPES["g5.12xlarge"], 4, UPSTREAM) == 3


def test_shared_gpus_count_as_what_their_nodes_offer() -> None:
    shared = pool(
        role="gpu",
        instanceTypes=["g5.2xlarge"],
        sharing={"mode": "time-slicing", "replicas": 4},
        headroom={"pods": 5, "cpu": "1", "memory": "1Gi", "gpus": 1},
    )
    assert spare_nodes(resolve_groups({"shared": shared}), UPSTREAM) == {"shared": 2}


def test_placeholders_come_after_all_work_and_the_autoscaler_still_counts_them() -> None:
    assert PRIORITY_MIN <= PRIORITY < 0 <= min(each.priority for each in UserPriority)


def test_every_group_of_a_pool_knows_its_headroom() -> None:
    mixed = pool(instanceTypes=["m6i.2xlarge", "m6i.4xlarge"])
    groups = resolve_groups({"mixed": mixed, "plain": pool(headroom=None)})
    assert [(group.name, group.headroom is not None) for group in groups] == [
        ("mixed", True),
        ("mixed-16cpu-64gib", True),
        ("plain", False),
    ]


def test_nodes_of_the_minimum_count_as_headroom_while_nothing_runs() -> None:
    pools = {"none": pool(), "some": pool((1, 9)), "enough": pool((3, 9)), "plain": pool(headroom=None)}
    assert spare_nodes(resolve_groups(pools), UPSTREAM) == {"none": 2, "some": 1}


@pytest.mark.parametrize(
    ("pods", "spare"), [(4, {"zonal-a": 1}), (8, {"zonal-a": 2, "zonal-b": 1}), (12, {"zonal-a": 2, "zonal-b": 3})]
)
def test_a_pool_over_zones_keeps_its_headroom_once_and_no_zone_exceeds_its_maximum(
    pods: int, spare: dict[str, int]
) -> None:
    room = {"pods": pods, "cpu": "3", "memory": "1Gi"}  # two of them fill a node
    choices = pool((1, 9), zonal=True, headroom=room)
    groups = resolve_groups({"zonal": choices}, None, lambda group: by_zone(group, "abc"))
    assert spare_nodes(groups, UPSTREAM) == spare
