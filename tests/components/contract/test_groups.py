from hypothesis import given
from hypothesis import strategies as st

from components.contract.groups import in_zones, node_groups
from components.contract.labels import LabelKey
from components.contract.pools import NodePool
from components.contract.taints import OWN_SPOT_TAINT

POOLS = {
    "initial": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]},
    "workload": {"role": "workload", "size": {"min": 1, "max": 9}, "instanceTypes": ["m6i.2xlarge"]},
    "spot": {
        "role": "workload",
        "lifecycle": "spot",
        "size": {"min": 0, "max": 9},
        "instanceTypes": ["m6i.2xlarge", "m5.2xlarge"],
    },
    "jupyter": {"role": "jupyter", "size": {"min": 0, "max": 9}, "instanceTypes": ["m6i.xlarge"]},
    "gpu": {"role": "gpu", "size": {"min": 0, "max": 4}, "instanceTypes": ["g5.2xlarge"]},
    "gpuspot": {"role": "gpu", "lifecycle": "spot", "size": {"min": 0, "max": 4}, "instanceTypes": ["g5.2xlarge"]},
    "data": {"role": "data", "size": {"min": 3, "max": 3}, "instanceTypes": ["i4i.2xlarge"]},
}
parsed = {name: NodePool.model_validate(pool) for name, pool in POOLS.items()}
groups = {group.name: group for group in node_groups(parsed, OWN_SPOT_TAINT)}


def test_only_user_pools_carry_the_mark_that_user_pods_select() -> None:
    marked = {name for name, group in groups.items() if group.labels.get(LabelKey.USER_WORKLOADS) == "true"}
    assert marked == {"workload", "spot", "jupyter", "gpu", "gpuspot"}


def test_the_lifecycle_label_says_how_the_pool_is_bought() -> None:
    preemptible = {name for name, group in groups.items() if group.labels[LabelKey.LIFECYCLE] == "preemptible"}
    assert preemptible == {"spot", "gpuspot"}
    assert {groups[name].labels[LabelKey.LIFECYCLE] for name in set(groups) - preemptible} == {"non-preemptible"}


def test_only_spot_and_gpu_groups_are_tainted() -> None:
    assert {name: [str(taint) for taint in group.taints] for name, group in groups.items() if group.taints} == {
        "spot": ["app.iguazio.com/lifecycle=preemptible:NoSchedule"],
        "gpu": ["nvidia.com/gpu=present:NoSchedule"],
        "gpuspot": ["nvidia.com/gpu=present:NoSchedule", "app.iguazio.com/lifecycle=preemptible:NoSchedule"],
    }


def test_without_a_spot_taint_spot_groups_are_told_by_their_label_only() -> None:
    spot = next(group for group in node_groups(parsed, None) if group.name == "spot")
    assert spot.taints == ()
    assert spot.labels[LabelKey.LIFECYCLE] == "preemptible"


def test_groups_keep_the_order_of_the_stack_file() -> None:
    assert list(groups) == list(POOLS)


@given(st.dictionaries(st.sampled_from(["team", "cost-centre", "example.com/x"]), st.sampled_from(["a", "b-c", ""])))
def test_own_labels_of_a_pool_never_displace_the_contract(labels: dict[str, str]) -> None:
    pool = NodePool.model_validate({**POOLS["workload"], "labels": labels})
    (group,) = node_groups({"workload": pool}, OWN_SPOT_TAINT)
    assert group.labels == {**labels, **groups["workload"].labels}


sizes = st.integers(0, 12).flatmap(lambda low: st.integers(max(low, 1), 40).map(lambda high: (low, high)))


@given(sizes, st.lists(st.sampled_from("abc"), min_size=2, max_size=3, unique=True))
def test_zones_share_out_the_bounds_of_a_pool_evenly(bounds: tuple[int, int], zones: list[str]) -> None:
    low, high = bounds
    pool = NodePool.model_validate({**POOLS["jupyter"], "size": {"min": low, "max": high}})
    parts = in_zones(node_groups({"jupyter": pool}, OWN_SPOT_TAINT), zones)
    assert (sum(part.size.min for part in parts), sum(part.size.max for part in parts)) == bounds
    assert max(part.size.max for part in parts) - min(part.size.max for part in parts) <= 1
    assert [part.name for part in parts] == [f"jupyter-{zone}" for zone in sorted(zones)[: len(parts)]]
    assert {part.zone for part in parts} <= set(zones)
    assert all(dict(part.labels) == dict(parts[0].labels) for part in parts)


@given(st.permutations(["a", "b", "c"]))
def test_the_order_of_zones_has_no_meaning(zones: list[str]) -> None:
    assert in_zones(tuple(groups.values()), zones) == in_zones(tuple(groups.values()), ["a", "b", "c"])


def test_only_pools_with_zonal_volumes_are_split() -> None:
    split = {part.name for part in in_zones(tuple(groups.values()), ["a", "b"]) if part.zone}
    assert split == {"jupyter-a", "jupyter-b", "data-a", "data-b"}
