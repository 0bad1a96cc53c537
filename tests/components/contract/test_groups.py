from collections.abc import Iterable, Sequence
from dataclasses import replace

from hypothesis import assume, given
from hypothesis import strategies as st

from components.contract.admission import spot_checks
from components.contract.groups import NodeGroup, by_zone, has_open_spot, resolve_groups, zones_unknown_at_zero
from components.contract.instances import INSTANCE_TYPES, InstanceType, Provider
from components.contract.labels import LabelKey, is_dns_label
from components.contract.policy_choices import PolicyChoices
from components.contract.policy_parameters import policy_parameters
from components.contract.pools import NodePool
from components.contract.taints import ARM_TAINT, OWN_SPOT_TAINT, Taint, TaintEffect

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
groups = {group.name: group for group in resolve_groups(parsed, OWN_SPOT_TAINT)}


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
    spot = next(group for group in resolve_groups(parsed, None) if group.name == "spot")
    assert spot.taints == ()
    assert spot.labels[LabelKey.LIFECYCLE] == "preemptible"


def test_a_taint_keeps_pods_off_spot_nodes_unless_it_is_a_preference() -> None:
    spot, preferred = groups["spot"], Taint("example.com/rack", "spare", TaintEffect.PREFER_NO_SCHEDULE)
    evicts, gpu = replace(preferred, effect=TaintEffect.NO_EXECUTE), groups["gpuspot"].taints[:1]
    for taints, is_open in (((), True), ((preferred,), True), ((preferred, evicts), False), (gpu, False)):
        group = replace(spot, taints=tuple(taints))
        assert has_open_spot([groups["workload"], group]) is is_open
        assert bool(spot_checks((group,))) is is_open
        assert policy_parameters([group], PolicyChoices.model_validate({})).has_untainted_spot is is_open


def in_zones(found: Iterable[NodeGroup], zones: Sequence[str]) -> list[NodeGroup]:
    return [part for group in found for part in by_zone(group, zones)]


def by_shape(types: list[str], **pool: object) -> list[NodeGroup]:
    choices = {**POOLS["workload"], "size": {"min": 2, "max": 9}, "instanceTypes": types, **pool}
    return list(resolve_groups({"jobs": NodePool.model_validate(choices)}, OWN_SPOT_TAINT))


def test_a_pool_of_several_shapes_is_a_group_for_each() -> None:
    found = by_shape(["m6i.2xlarge", "m6i.4xlarge", "m5.2xlarge", "r6i.2xlarge"])
    assert [(group.name, [i.name for i in group.instances], str(group.size)) for group in found] == [
        ("jobs", ["m6i.2xlarge", "m5.2xlarge"], "2..9"),
        ("jobs-16cpu-64gib", ["m6i.4xlarge"], "0..9"),
        ("jobs-8cpu-64gib", ["r6i.2xlarge"], "0..9"),
    ]


def test_the_groups_of_a_pool_differ_in_name_size_and_machines_only() -> None:
    gpu = {"role": "gpu", "lifecycle": "spot", "labels": {"team": "vision"}}
    first, *others = by_shape(["g5.2xlarge", "g5.12xlarge"], **gpu)
    assert others
    assert others[0].name == "jobs-48cpu-192gib-4gpu"
    assert [replace(each, name=first.name, size=first.size, instances=first.instances) for each in others] == [first]


AMD64 = [i for i in INSTANCE_TYPES.values() if i.provider is Provider.AWS and i.architecture == "amd64" and not i.gpus]
TYPES = st.lists(st.sampled_from(AMD64), min_size=1, max_size=8, unique=True)


@given(TYPES, st.sampled_from(AMD64), st.data())
def test_another_type_touches_no_group_of_another_shape(
    types: list[InstanceType], another: InstanceType, data: st.DataObject
) -> None:
    """Whatever place it takes behind the first: the name of a group says its shape, not its place."""
    place = data.draw(st.integers(1, len(types)))
    names = [each.name for each in types if each != another]
    assume(names)
    before = by_shape(names)
    after = by_shape([*names[:place], another.name, *names[place:]])
    assert [each for each in after if each.instances[0].shape != another.shape] == [
        each for each in before if each.instances[0].shape != another.shape
    ]
    assert {each.name for each in before} <= {each.name for each in after}


@given(TYPES)
def test_every_group_has_one_shape_and_a_name_of_its_own_that_nodes_may_have(types: list[InstanceType]) -> None:
    found = by_shape([each.name for each in types])
    assert all(len({i.shape for i in group.instances}) == 1 for group in found)
    assert sorted(i.name for group in found for i in group.instances) == sorted(each.name for each in types)
    assert len({group.name for group in found}) == len(found)
    assert all(is_dns_label(group.name) for group in found)


def test_shapes_in_zones_are_a_group_for_each_of_both() -> None:
    found = in_zones(by_shape(["m6i.xlarge", "m6i.4xlarge"], role="jupyter", size={"min": 1, "max": 2}), ["a", "b"])
    assert [(group.name, str(group.size)) for group in found] == [
        ("jobs-a", "1"),
        ("jobs-b", "0..1"),
        ("jobs-16cpu-64gib-a", "0..1"),
        ("jobs-16cpu-64gib-b", "0..1"),
    ]


def test_groups_keep_the_order_of_the_stack_file() -> None:
    assert list(groups) == list(POOLS)


@given(st.dictionaries(st.sampled_from(["team", "cost-centre", "example.com/x"]), st.sampled_from(["a", "b-c", ""])))
def test_own_labels_of_a_pool_never_displace_the_contract(labels: dict[str, str]) -> None:
    pool = NodePool.model_validate({**POOLS["workload"], "labels": labels})
    (group,) = resolve_groups({"workload": pool}, OWN_SPOT_TAINT)
    assert group.labels == {**labels, **groups["workload"].labels}


sizes = st.integers(0, 12).flatmap(lambda low: st.integers(max(low, 1), 40).map(lambda high: (low, high)))


@given(sizes, st.lists(st.sampled_from("abc"), min_size=2, max_size=3, unique=True))
def test_zones_share_out_the_bounds_of_a_pool_evenly(bounds: tuple[int, int], zones: list[str]) -> None:
    low, high = bounds
    pool = NodePool.model_validate({**POOLS["jupyter"], "size": {"min": low, "max": high}})
    parts = in_zones(resolve_groups({"jupyter": pool}, OWN_SPOT_TAINT), zones)
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


def test_any_pool_of_user_work_may_have_a_group_in_each_zone() -> None:
    gpu = {"role": "gpu", "size": {"min": 0, "max": 5}, "instanceTypes": ["g4dn.xlarge"], "zonal": True}
    parts = in_zones(resolve_groups({"gpu": NodePool.model_validate(gpu)}), ["a", "b", "c"])
    assert [(part.name, part.zone, part.size.max) for part in parts] == [
        ("gpu-a", "a", 2),
        ("gpu-b", "b", 2),
        ("gpu-c", "c", 1),
    ]
    assert zones_unknown_at_zero(parts, ["a", "b", "c"]) == {}


def test_pools_of_pods_with_volumes_that_start_from_zero_over_several_zones_are_named() -> None:
    elastic = {"size": {"min": 0, "max": 5}, "instanceTypes": ["m6i.xlarge"]}
    pools = {
        "jobs": {"role": "workload", **elastic},
        "two-shapes": {
            **elastic,
            "role": "jupyter",
            "zonal": False,
            "size": {"min": 1, "max": 5},
            "instanceTypes": ["m6i.xlarge", "m6i.2xlarge"],
        },
        "kept": {**elastic, "role": "jupyter", "zonal": False, "size": {"min": 1, "max": 5}},
        "jupyter": {"role": "jupyter", **elastic},
        "notebooks": {"role": "jupyter", "zonal": False, **elastic},
    }
    found = in_zones(resolve_groups({name: NodePool.model_validate(each) for name, each in pools.items()}), ["a", "b"])
    assert set(zones_unknown_at_zero(found, ["b", "a"])) == {"notebooks", "two-shapes"}
    assert zones_unknown_at_zero(found, ["a"]) == {}


ARM = {"role": "workload", "size": {"min": 0, "max": 4}, "instanceTypes": ["m7g.2xlarge"]}


def taints_of(**pools: dict[str, object]) -> dict[str, list[str]]:
    choices = {"initial": POOLS["initial"], **pools}
    found = resolve_groups({name: NodePool.model_validate(pool) for name, pool in choices.items()}, OWN_SPOT_TAINT)
    return {group.name: [str(taint) for taint in group.taints] for group in found if group.taints}


def test_arm_nodes_beside_amd64_nodes_for_user_work_are_tainted() -> None:
    assert str(ARM_TAINT) == "igz-clusters.io/arch=arm64:NoSchedule"
    assert taints_of(workload=POOLS["workload"], arm=ARM) == {"arm": [str(ARM_TAINT)]}
    spot = {**ARM, "lifecycle": "spot"}
    assert taints_of(workload=POOLS["workload"], arm=spot) == {"arm": [str(OWN_SPOT_TAINT), str(ARM_TAINT)]}


def test_an_arm_pool_stays_open_where_a_taint_would_leave_its_pods_no_other_node() -> None:
    """GPU nodes take no plain jobs, and plain jobs avoid spot nodes."""
    assert str(ARM_TAINT) not in taints_of(arm=ARM, gpu=POOLS["gpu"]).get("arm", [])
    assert str(ARM_TAINT) not in taints_of(arm=ARM, spot=POOLS["spot"]).get("arm", [])
    # Jobs name the role of their pools. Those that name none may go to notebooks' nodes, so these keep the taint.
    notebooks = {**POOLS["workload"], "role": "jupyter"}
    assert str(ARM_TAINT) not in taints_of(arm=ARM, jupyter=notebooks).get("arm", [])
    assert str(ARM_TAINT) in taints_of(arm={**ARM, "role": "jupyter"}, workload=POOLS["workload"])["arm"]
    spot = {**ARM, "lifecycle": "spot"}
    assert str(ARM_TAINT) in taints_of(arm=spot, spot=POOLS["spot"])["arm"]
    machine = {"vcpus": 8, "memoryGib": 32, "architecture": "arm64", "gpus": 1}
    gpu = {"role": "gpu", "size": {"min": 0, "max": 2}, "machine": machine}
    assert str(ARM_TAINT) not in taints_of(armgpu=gpu, workload=POOLS["workload"])["armgpu"]
    assert str(ARM_TAINT) in taints_of(armgpu=gpu, gpu=POOLS["gpu"])["armgpu"]


def test_where_all_user_work_runs_on_arm_no_node_is_tainted_for_it() -> None:
    """The stack file leaves work no other choice, so that its images must be for arm64."""
    assert taints_of(arm=ARM) == {}
    assert taints_of(arm=ARM, data=POOLS["data"]) == {}


def test_initial_and_data_nodes_are_never_tainted_for_their_architecture() -> None:
    initial = {**POOLS["initial"], "instanceTypes": ["m7g.2xlarge"]}
    machine = {"vcpus": 8, "memoryGib": 32, "architecture": "arm64", "localNvmeGib": 1800}
    data = {"role": "data", "size": {"min": 3, "max": 3}, "machine": machine}
    assert taints_of(initial=initial, data=data, workload=POOLS["workload"]) == {}
