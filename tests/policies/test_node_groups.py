from typing import Any

import pytest

from components.clusters.local.node_groups import autoscaler_templates, node_metadata, node_taints
from components.contract.clusters import spot_taint
from components.contract.eks.spelling import taint_entry
from components.contract.environments import ClusterKind, PlatformProfile
from components.contract.groups import NodeGroup
from components.contract.groups import resolve_groups as groups_of_pools
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.pools import NodePool, PoolRole
from components.contract.taints import AKS_SPOT_TAINT, OWN_SPOT_TAINT, Taint, TaintEffect, gpu_taint
from policies.resource import Resource
from policies.values import UNKNOWN, NotJudgeableError, Value
from policies.views.node_groups import NodeGroupFacts, node_groups

EKS = "aws:eks/nodeGroup:NodeGroup"
AKS = "azure-native:containerservice:AgentPool"
POOLS = {
    "core": {"role": "initial", "size": {"min": 2, "max": 2}, "instanceTypes": ["m6i.2xlarge"]},
    "jobs": {"role": "workload", "lifecycle": "spot", "size": {"min": 0, "max": 9}, "instanceTypes": ["m6i.xlarge"]},
    "gpus": {
        "role": "gpu",
        "size": {"min": 0, "max": 3},
        "instanceTypes": ["g5.2xlarge"],
        "gpuResource": "example.com/gpu",
    },
}


def facts(kind: str, props: Any, name: str = "thing", ignored: tuple[str, ...] = ()) -> list[NodeGroupFacts]:
    return list(node_groups(Resource(kind, name, "urn", Value(props), ignore_changes=ignored)))


def one(kind: str, props: Any, *ignored: str) -> NodeGroupFacts:
    [group] = facts(kind, props, ignored=ignored)
    return group


def contract_groups() -> tuple[NodeGroup, ...]:
    pools = {name: NodePool.model_validate(pool) for name, pool in POOLS.items()}
    return groups_of_pools(pools, spot_taint(ClusterKind.LOCAL, PlatformProfile.MLRUN_CE))


def agrees(group: NodeGroup, found: NodeGroupFacts) -> None:
    assert (found.name, found.role, found.lifecycle) == (group.name, group.role, group.lifecycle)
    assert (found.size_min, found.size_max, found.size_desired) == (group.size.min, group.size.max, group.size.min)
    assert found.label(LabelKey.LIFECYCLE) == group.lifecycle.label_value
    assert found.gpus_by_type == {instance.name: instance.gpus for instance in group.instances}
    assert all(found.carries_one_of(taint) for taint in group.taints)
    if group.gpu_resource:
        assert found.gpu_resources == (group.gpu_resource,)


def test_the_local_clusters_templates_are_read_as_the_groups_they_were_made_from() -> None:
    groups = contract_groups()
    metadata = {"name": "kwok-provider-templates", "namespace": "kube-system"}
    found = facts(
        "kubernetes:core/v1:ConfigMap", {"metadata": metadata, "data": {"templates": autoscaler_templates(groups)}}
    )
    for group, read in zip(groups, found, strict=True):
        agrees(group, read)
    assert str(found[1]) == "pool 'jobs' (data.templates.items[1])"


@pytest.mark.parametrize("group", contract_groups(), ids=lambda g: g.name)
def test_a_simulated_node_is_read_as_the_group_it_was_made_from(group: NodeGroup) -> None:
    node = {"metadata": node_metadata(group, "node-0"), "spec": {"taints": node_taints(group)}}
    agrees(group, one("kubernetes:core/v1:Node", node))


@pytest.mark.parametrize("group", contract_groups(), ids=lambda g: g.name)
def test_a_managed_node_group_is_read_as_the_group_it_was_made_from(group: NodeGroup) -> None:
    found = one(
        EKS,
        {
            "capacityType": "SPOT" if group.lifecycle is Lifecycle.SPOT else "ON_DEMAND",
            "instanceTypes": [instance.name for instance in group.instances],
            "labels": dict(group.labels),
            "scalingConfig": {"minSize": group.size.min, "maxSize": group.size.max, "desiredSize": group.size.min},
            "taints": [taint_entry(taint) for taint in group.taints],
        },
    )
    assert found.kind is ClusterKind.EKS
    assert (found.name, found.role, found.lifecycle) == (group.name, group.role, group.lifecycle)
    assert all(found.carries_one_of(taint) for taint in group.taints)


@pytest.mark.parametrize(
    "taint", [OWN_SPOT_TAINT, AKS_SPOT_TAINT, gpu_taint("nvidia.com/gpu"), Taint("a", "b", TaintEffect.NO_EXECUTE)]
)
def test_every_clouds_spelling_of_a_taint_is_read_back(taint: Taint) -> None:
    assert one(EKS, {"taints": [taint_entry(taint)]}).carries_one_of(taint)
    assert one(AKS, {"nodeTaints": [str(taint)]}).carries_one_of(taint)


def test_another_value_or_effect_is_another_taint() -> None:
    group = one(EKS, {"taints": [{"key": "k", "value": "v", "effect": "NO_SCHEDULE"}]})
    assert group.carries_one_of(Taint("other", "v"), Taint("k", "v"))
    assert not group.carries_one_of(Taint("k", "w"), Taint("k", "v", TaintEffect.NO_EXECUTE))


def test_an_unknown_taint_matters_only_where_no_certain_one_settles_it() -> None:
    group = one(EKS, {"taints": [UNKNOWN, {"key": "k", "value": "v", "effect": "NO_SCHEDULE"}]})
    assert group.carries_one_of(Taint("k", "v"))
    with pytest.raises(NotJudgeableError, match=r"taints\[0\] is not known yet"):
        group.carries_one_of(Taint("k", "w"))


def test_aks_adds_its_taint_to_a_spot_pool_itself() -> None:
    assert one(AKS, {"scaleSetPriority": "Spot"}).carries_one_of(AKS_SPOT_TAINT)
    assert not one(AKS, {"scaleSetPriority": "Regular"}).carries_one_of(AKS_SPOT_TAINT)


@pytest.mark.parametrize(
    ("props", "sizes"),
    [
        ({"count": 2, "minCount": 0, "maxCount": 9}, (2, 2, 2)),
        ({"count": 2, "minCount": 0, "maxCount": 9, "enableAutoScaling": False}, (2, 2, 2)),
        ({"count": 2, "minCount": 0, "maxCount": 9, "enableAutoScaling": True}, (0, 9, 2)),
    ],
)
def test_an_agent_pools_bounds_count_only_with_the_autoscaler(props: dict[str, Any], sizes: tuple[int, ...]) -> None:
    group = one(AKS, props)
    assert (group.size_min, group.size_max, group.size_desired) == sizes


@pytest.mark.parametrize(
    "token", ["azure-native:containerservice:ManagedCluster", "azure-native:containerservice/v20240901:ManagedCluster"]
)
def test_every_inline_profile_is_a_group(token: str) -> None:
    found = facts(token, {"agentPoolProfiles": [{"count": 1}, {"count": 2}]})
    assert [(str(group), group.size_min) for group in found] == [
        ("pool 'thing' (agentPoolProfiles[0])", 1),
        ("pool 'thing' (agentPoolProfiles[1])", 2),
    ]


@pytest.mark.parametrize(
    ("given", "expected"), [(None, Lifecycle.ON_DEMAND), ("ON_DEMAND", Lifecycle.ON_DEMAND), ("SPOT", Lifecycle.SPOT)]
)
def test_eks_buys_on_demand_unless_told_otherwise(given: str | None, expected: Lifecycle) -> None:
    assert one(EKS, {"capacityType": given}).lifecycle is expected


def test_a_word_that_the_cloud_does_not_know_is_not_guessed() -> None:
    with pytest.raises(NotJudgeableError, match="capacityType is not one of ON_DEMAND, SPOT"):
        _ = one(EKS, {"capacityType": "SPOTTED"}).lifecycle


@pytest.mark.parametrize("labels", [None, {}, {"igz-clusters.io/role": "jobs"}])
def test_a_role_outside_the_contract_is_none(labels: Any) -> None:
    assert one(EKS, {"labels": labels}).role is None


def test_the_name_never_stands_in_the_way_of_a_message() -> None:
    assert one(EKS, {"labels": UNKNOWN}).name == "thing"
    assert one(EKS, {"labels": {LabelKey.POOL.value: UNKNOWN, LabelKey.ROLE.value: "gpu"}}).role is PoolRole.GPU


@pytest.mark.parametrize(
    "metadata",
    [
        {"name": "kwok-provider-templates", "namespace": "default"},
        {"name": "kwok-provider-config", "namespace": "kube-system"},
        {"name": UNKNOWN, "namespace": "kube-system"},
        UNKNOWN,
        None,
    ],
)
def test_any_other_config_map_holds_no_groups(metadata: Any) -> None:
    assert facts("kubernetes:core/v1:ConfigMap", {"metadata": metadata, "data": {"templates": UNKNOWN}}) == []


@pytest.mark.parametrize("text", ["{", "- [", "items: 3", "3", UNKNOWN, "items: [{metadata: 3}]"])
def test_templates_that_cannot_be_read_are_not_judgeable(text: Any) -> None:
    metadata = {"name": "kwok-provider-templates", "namespace": "kube-system"}
    resource = {"metadata": metadata, "data": {"templates": text}}
    with pytest.raises(NotJudgeableError, match=r"data\.templates"):
        _ = [group.role for group in facts("kubernetes:core/v1:ConfigMap", resource)]


@pytest.mark.parametrize("metadata", [UNKNOWN, {"name": UNKNOWN, "namespace": "kube-system"}])
def test_the_autoscalers_own_config_map_is_known_by_its_logical_name_too(metadata: Any) -> None:
    resource = {"metadata": metadata, "data": {"templates": autoscaler_templates(contract_groups())}}
    assert len(facts("kubernetes:core/v1:ConfigMap", resource, "kwok-provider-templates")) == len(POOLS)


def test_a_pool_is_known_by_its_label_else_by_the_resource() -> None:
    assert one(EKS, {"labels": {LabelKey.POOL.value: "jobs"}}).pool == "jobs"
    assert one(EKS, {}).pool == "thing"
    with pytest.raises(NotJudgeableError, match="labels is not known yet"):
        _ = one(EKS, {"labels": UNKNOWN}).pool


@pytest.mark.parametrize(
    ("role", "bounds", "expected"),
    [("workload", (0, 3), True), ("workload", (3, 3), False), ("initial", (0, 3), False), ("data", (0, 3), False)],
)
def test_only_a_role_that_may_grow_is_elastic(role: str, bounds: tuple[int, int], expected: bool) -> None:
    sizes = dict(zip(("minSize", "maxSize"), bounds, strict=True))
    group = one(EKS, {"labels": {LabelKey.ROLE.value: role}, "scalingConfig": sizes})
    assert group.is_elastic is expected


@pytest.mark.parametrize(
    ("ignored", "resets"),
    [
        ((), True),
        (("scalingConfig.desiredSize",), False),
        (("scalingConfig",), False),
        (("scalingConfig.desired_size",), True),
        (("scalingConfig.desiredSizes",), True),
        (("scaling",), True),
        (("scalingConfig.minSize",), True),
    ],
)
def test_the_desired_size_is_left_alone_by_its_own_name_or_its_holders(ignored: tuple[str, ...], resets: bool) -> None:
    assert one(EKS, {"scalingConfig": {"desiredSize": 2}}, *ignored).resets_size is resets


TOOK_OVER = {"igz-clusters-took-over": "first"}


@pytest.mark.parametrize(
    ("profiles", "counted"),
    [
        ([{"mode": "System", "count": 1}, {"mode": "User", "count": 2}], [1]),
        ([{"mode": "System", "count": 1}, {"mode": "System", "count": 2, "tags": TOOK_OVER}], [1]),
        ([{"mode": "User", "count": 1}, {"mode": "System", "count": 2, "tags": TOOK_OVER}], []),
        ([{"mode": "System", "count": 2, "tags": TOOK_OVER}], []),
    ],
    ids=["as created", "during a takeover", "after it", "as rendered"],
)
def test_a_system_pool_that_took_over_counts_as_a_resource_only(
    profiles: list[dict[str, Any]], counted: list[int]
) -> None:
    found = facts(
        "azure-native:containerservice:ManagedCluster",
        {"agentPoolProfiles": profiles},
        ignored=("agentPoolProfiles",),
    )
    assert [group.size_min for group in found] == counted


@pytest.mark.parametrize("ignored", ["agentPoolProfiles", "agentPoolProfiles[1]", "agentPoolProfiles[1].count"])
def test_an_inline_profile_is_left_alone_at_its_own_place(ignored: str) -> None:
    type_ = "azure-native:containerservice:ManagedCluster"
    props = {"agentPoolProfiles": [{"mode": "System", "count": count} for count in (1, 2)]}
    _, second = facts(type_, props, ignored=(ignored,))
    assert not second.resets_size
    _, second = facts(type_, props, ignored=("agentPoolProfiles[0]",))
    assert second.resets_size


def test_a_group_is_rolled_by_what_it_states_and_does_not_ignore() -> None:
    stated = {"version": "1.35", "launchTemplate": {"version": UNKNOWN}}
    assert one(EKS, stated).rolled_by == ("version", "launchTemplate")
    assert one(EKS, stated, "version").rolled_by == ("launchTemplate",)
    assert one(AKS, {"orchestratorVersion": UNKNOWN}).rolled_by == ("orchestratorVersion",)
    assert one(AKS, {}).rolled_by == ()
