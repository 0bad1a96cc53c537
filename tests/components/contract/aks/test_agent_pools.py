"""Names that live and die with what AKS never changes, and pools of one machine type each."""

import json
import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from components.contract.aks import agent_pools as made
from components.contract.aks.agent_pools import (
    fixed_inputs,
    node_labels,
    node_taints,
    nodes_at_most,
    pool_name,
    upgrade_settings,
)
from components.contract.aks.checks import mismatches
from components.contract.aks.config import AksConfig
from components.contract.clusters import cluster_groups
from components.contract.environments import Environment, PlatformProfile
from components.contract.groups import NodeGroup
from components.contract.instances import INSTANCE_TYPES, Provider
from components.contract.pools import NodePool
from support.aks import EXISTING, config, document
from support.minors import NEWEST, OLDER

TYPES = [
    i
    for i in INSTANCE_TYPES.values()
    if i.provider is Provider.AZURE and i.architecture == "amd64" and i.gpu_maker in ("", "nvidia") and i.offers_spot
]
CPU_TYPES = [i.name for i in TYPES if not i.gpus]
GPU_TYPES = [i.name for i in TYPES if i.gpus]

POOL_NAMES = st.from_regex(r"[a-z][a-z0-9]{0,7}", fullmatch=True)


@st.composite
def elastic_pools(draw: st.DrawFn) -> NodePool:
    role = draw(st.sampled_from(["workload", "jupyter", "gpu"]))
    types = GPU_TYPES if role == "gpu" else CPU_TYPES
    low = draw(st.integers(0, 5))
    pool = {
        "role": role,
        "lifecycle": draw(st.sampled_from(["on-demand", "spot"])),
        "size": {"min": low, "max": low + draw(st.integers(1, 20))},
        "instanceTypes": draw(st.lists(st.sampled_from(types), min_size=1, max_size=4, unique=True)),
        "labels": draw(st.dictionaries(st.sampled_from(["team", "example.com/tier"]), st.just("ml"))),
    }
    return NodePool.model_validate(pool)


STACKS = st.dictionaries(POOL_NAMES, elastic_pools(), min_size=1, max_size=4)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "cluster.name": st.sampled_from(["research", "other"]),
        "cluster.zones": st.sampled_from([["1", "2"], ["2", "1"], ["1", "2", "3"]]),
        "cluster.rootVolumeGib": st.sampled_from([128, 256]),
        "cluster.network": st.sampled_from([EXISTING, {"kind": "created", "cidr": "10.50.0.0/16"}]),
        "cluster.version": st.sampled_from([OLDER, NEWEST]),
        "cluster.autoscaler": st.just("interactive"),
        "cluster.tags": st.just({"team": "others"}),
    },
)


def choices_with(changes: dict[str, Any]) -> AksConfig:
    return _cluster(json.dumps(changes, sort_keys=True))


@cache
def _cluster(changes: str) -> AksConfig:
    return AksConfig.model_validate(document(json.loads(changes))["cluster"])


def made_of(pools: dict[str, NodePool], choices: AksConfig) -> tuple[NodeGroup, ...]:
    return cluster_groups(choices, pools, PlatformProfile.MLRUN_CE)


@settings(deadline=None)
@given(STACKS, CHANGES)
def test_names_are_what_azure_takes_and_tell_all_pools_of_a_stack_apart(
    pools: dict[str, NodePool], changes: dict[str, Any]
) -> None:
    choices = choices_with(changes)
    groups = made_of(pools, choices)
    names = [pool_name(group, choices) for group in groups]
    assert all(re.fullmatch("[a-z][a-z0-9]{0,11}", name) for name in names)
    assert len(set(names)) == len(groups)
    assert len({group.name for group in groups}) == len(groups)


@settings(deadline=None)
@given(STACKS, CHANGES, STACKS, CHANGES, st.data())
def test_a_name_changes_if_and_only_if_the_pool_or_something_immutable_does(
    pools: dict[str, NodePool],
    changes: dict[str, Any],
    other_pools: dict[str, NodePool],
    other_changes: dict[str, Any],
    data: st.DataObject,
) -> None:
    first, second = choices_with(changes), choices_with(other_changes)
    one = data.draw(st.sampled_from(made_of(pools, first)))
    other = data.draw(st.sampled_from([*made_of(pools, second), *made_of(other_pools, second)]))
    is_same = (one.pool, fixed_inputs(one, first)) == (other.pool, fixed_inputs(other, second))
    assert (pool_name(one, first) == pool_name(other, second)) is is_same


@settings(deadline=None)
@given(STACKS, st.data())
def test_what_azure_changes_in_place_changes_no_name(pools: dict[str, NodePool], data: st.DataObject) -> None:
    before = choices_with({})
    mutable = {"cluster.version": NEWEST, "cluster.tags": {"team": "others"}, "cluster.zones": ["3", "1", "2"]}
    after = choices_with({**mutable, "cluster.nodeImageChannel": "none", "cluster.logRetentionDays": 90})
    group = data.draw(st.sampled_from(made_of(pools, before)))
    bigger = replace(
        group, size=group.size.model_copy(update={"max": group.size.max + 1}), labels={"a": "b"}, taints=()
    )
    assert pool_name(bigger, after) == pool_name(group, before)


@pytest.mark.parametrize(
    "changes",
    [{"cluster.rootVolumeGib": 256}, {"cluster.network": EXISTING}, {"cluster.zones": ["1", "2"]}],
    ids=["disk", "subnet", "zones"],
)
def test_each_immutable_choice_makes_another_pool_but_the_initial_one_keeps_its_name(changes: dict[str, Any]) -> None:
    before, after = choices_with({}), choices_with(changes)
    groups = {group.name: group for group in config().groups}
    assert pool_name(groups["workload"], before) != pool_name(groups["workload"], after)
    assert pool_name(groups["initial"], before) == pool_name(groups["initial"], after) == "initial"


def test_a_change_of_type_lifecycle_or_gpus_makes_another_pool() -> None:
    choices = choices_with({})
    on_demand, spot, other, gpu = (
        pool_name(group, choices)
        for pool in (
            {"role": "workload", "instanceTypes": ["Standard_D8s_v5"]},
            {"role": "workload", "instanceTypes": ["Standard_D8s_v5"], "lifecycle": "spot"},
            {"role": "workload", "instanceTypes": ["Standard_D8as_v5"]},
            {"role": "gpu", "instanceTypes": ["Standard_NC4as_T4_v3"]},
        )
        for group in made_of({"jobs": NodePool.model_validate({**pool, "size": {"min": 0, "max": 3}})}, choices)
    )
    assert len({on_demand, spot, other, gpu}) == 4


def test_two_pools_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "SUFFIX_LENGTH", 0)
    size = {"min": 0, "max": 3}
    pool = {"role": "workload", "size": size, "instanceTypes": ["Standard_D8s_v5", "Standard_D8as_v5"]}
    pools, choices = {"jobs": NodePool.model_validate(pool)}, choices_with({})
    found = mismatches(choices, pools, made_of(pools, choices), Environment.DEV)
    assert [(m.path, m.message) for m in found] == [
        (("jobs",), "two agent pools would be named 'jobs'; rename the pool")
    ]


@settings(deadline=None)
@given(STACKS)
def test_every_type_is_a_pool_that_keeps_the_bounds(pools: dict[str, NodePool]) -> None:
    groups = made_of(pools, choices_with({}))
    for name, pool in pools.items():
        mine = [group for group in groups if group.pool == name]
        assert all(len(group.instances) == 1 for group in mine)
        zones = {group.zone for group in mine}
        assert zones <= ({"1", "2", "3"} if pool.role == "jupyter" else {None})
        assert sum(group.size.min for group in mine) == pool.size.min
        for machine in pool.instances:
            assert sum(g.size.max for g in mine if g.instances == (machine,)) == pool.size.max


@settings(deadline=None)
@given(STACKS)
def test_spot_nodes_say_what_aks_says_of_them_and_others_do_not(pools: dict[str, NodePool]) -> None:
    for group in made_of(pools, choices_with({})):
        is_spot = group.lifecycle == "spot"
        inputs = fixed_inputs(group, choices_with({}))
        assert (node_labels(group).get("kubernetes.azure.com/scalesetpriority") == "spot") is is_spot
        assert ("kubernetes.azure.com/scalesetpriority=spot:NoSchedule" in node_taints(group)) is is_spot
        assert (upgrade_settings(group) is None) is is_spot
        assert (inputs["scale_set_priority"], inputs["scale_set_eviction_policy"], inputs["spot_max_price"]) == (
            ("Spot", "Delete", -1) if is_spot else ("Regular", None, None)
        )
        assert set(group.labels.items()) <= set(node_labels(group).items())


@settings(deadline=None)
@given(STACKS)
def test_room_for_an_upgrade_is_at_least_what_aks_adds(pools: dict[str, NodePool]) -> None:
    for group in made_of(pools, choices_with({})):
        surge = (upgrade_settings(group) or {"max_surge": "0"})["max_surge"]
        share = int(surge.removesuffix("%")) / 100 * group.size.max if "%" in surge else int(surge)
        assert nodes_at_most(group) >= group.size.max + share
        assume(surge != "0")
        assert nodes_at_most(group) > group.size.max
