from hypothesis import given
from hypothesis import strategies as st

from components.contract.groups import node_groups
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
