from components.contract.groups import by_zone, resolve_groups
from components.contract.pools import NodePool

POOL = {"role": "workload", "size": {"min": 1, "max": 9}, "instanceTypes": ["m6i.2xlarge", "m6i.4xlarge"]}


def standing_by(nodes: int, **choices: object) -> dict[str, int]:
    pool = NodePool.model_validate({**POOL, "warmPool": {"nodes": nodes}, **choices})
    groups = resolve_groups({"work": pool}, None, lambda group: by_zone(group, "abc"))
    return {group.name: group.warm_pool.nodes for group in groups if group.warm_pool}


def test_only_machines_of_the_first_shape_stand_by() -> None:
    assert standing_by(3) == {"work": 3}


def test_the_zones_of_a_pool_share_what_stands_by() -> None:
    assert standing_by(4, zonal=True, instanceTypes=["m6i.2xlarge"]) == {"work-a": 2, "work-b": 1, "work-c": 1}
    assert standing_by(2, zonal=True, instanceTypes=["m6i.2xlarge"]) == {"work-a": 1, "work-b": 1}
