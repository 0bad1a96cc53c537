import re
from typing import Any

import pytest

from support.aks import AGENT_POOL, CLUSTER, DOCUMENT, Props, build, built, pools
from support.azure_resources import PLACEMENT
from support.minors import CHOSEN, NEWEST, OLDER

DATA = [f"data-{zone}" for zone in "123"]


def names(recorder: Any) -> dict[str, str]:
    return {name: pool["agentPoolName"] for name, pool in recorder.of_type(AGENT_POOL).items()}


def test_each_machine_type_is_a_pool_and_zonal_roles_have_one_a_zone() -> None:
    assert set(pools(built())) == {
        *("initial", "workload", "spot", "spot-d8as-v5", "gpu"),
        *("jupyter-1", "jupyter-2", "jupyter-3"),
        *DATA,
    }
    assert pools(built())["jupyter-2"]["availabilityZones"] == ["2"]
    assert pools(built())["workload"]["availabilityZones"] == ["1", "2", "3"]


def test_the_initial_pool_is_the_clusters_own_system_pool_static_and_untainted() -> None:
    initial = pools(built())["initial"]
    assert (initial["mode"], initial["count"], initial["enableAutoScaling"]) == ("System", 3, False)
    assert (initial["scaleSetPriority"], initial.get("nodeTaints")) == ("Regular", None)
    assert not {"minCount", "maxCount"} & set(initial)


def test_an_elastic_pool_belongs_to_the_autoscaler_and_a_static_one_to_the_stack_file() -> None:
    workload = pools(built())["workload"]
    assert (workload["count"], workload["minCount"], workload["maxCount"]) == (1, 1, 10)
    assert built().options[AGENT_POOL, "test-pools-workload"].ignore_changes == ("count",)
    static = build({"pools.workload.size": {"min": 2, "max": 2}})
    assert not {"minCount", "maxCount"} & set(pools(static)["workload"])
    assert static.options[AGENT_POOL, "test-pools-workload"].ignore_changes == ()


def test_a_pool_that_replaces_another_begins_with_its_nodes() -> None:
    found = pools(build(live_sizes={"workload": 7}))
    assert (found["workload"]["count"], found["initial"]["count"]) == (7, 3)


@pytest.mark.parametrize("name", ["spot", "spot-d8as-v5"])
def test_a_spot_pool_is_said_to_be_one_in_every_way_that_aks_wants(name: str) -> None:
    spot = pools(built())[name]
    assert (spot["scaleSetPriority"], spot["scaleSetEvictionPolicy"], spot["spotMaxPrice"]) == ("Spot", "Delete", -1)
    assert spot["nodeLabels"]["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert spot["nodeLabels"]["app.iguazio.com/lifecycle"] == "preemptible"
    assert spot["nodeTaints"] == ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]
    assert "upgradeSettings" not in spot


def test_limits_of_upgrades_are_all_said_where_one_is() -> None:
    changes = {
        "pools.initial.upgrade": {},
        "pools.workload.upgrade": {"nodes": "10%", "drainMinutes": 240, "soakMinutes": 5},
        "pools.gpu.upgrade": {"nodes": 1, "order": "old-first"},
    }
    found = {name: pool.get("upgradeSettings") for name, pool in pools(build(changes)).items()}
    defaults = {"drainTimeoutInMinutes": 30, "nodeSoakDurationInMinutes": 0}
    assert found["initial"] == {"maxSurge": "1", **defaults}
    assert found["gpu"] == {"maxSurge": "0", "maxUnavailable": "1", **defaults}
    assert found["workload"] == {
        "maxSurge": "10%",
        "maxUnavailable": "0",
        "drainTimeoutInMinutes": 240,
        "nodeSoakDurationInMinutes": 5,
    }
    assert (found["jupyter-1"], found["spot"]) == ({"maxSurge": "33%"}, None)


def test_an_update_within_limits_has_the_time_that_they_may_take() -> None:
    changes = {"pools.workload.upgrade": {"nodes": 1, "drainMinutes": 60, "soakMinutes": 5}, "pools.gpu.upgrade": {}}
    options = build(changes).options
    assert options[AGENT_POOL, "test-pools-workload"].update_timeout == "800m", "ten nodes, 80 minutes each"
    assert options[AGENT_POOL, "test-pools-gpu"].update_timeout == "120m"
    assert options[AGENT_POOL, "test-pools-spot"].update_timeout == ""


def test_another_system_pool_takes_over_from_the_one_that_the_cluster_was_created_with() -> None:
    recorder = build({"cluster.createdWithPool": "first"})
    (inline,) = recorder.of_type(CLUSTER)["test-cluster"]["agentPoolProfiles"]
    assert (inline["name"], inline["tags"]["igz-clusters-took-over"]) == ("first", "first")
    found = recorder.of_type(AGENT_POOL)
    initial = found.pop("test-pools-initial")
    assert (initial["mode"], initial["count"], initial["enableAutoScaling"]) == ("System", 3, False)
    assert re.fullmatch("initial[a-z0-9]{4}", initial["agentPoolName"])
    assert initial["tags"]["igz-clusters-took-over"] == "first"
    assert found == built().of_type(AGENT_POOL)
    other = build({"cluster.createdWithPool": "first", "pools.initial.instanceTypes": ["Standard_D8s_v5"]})
    assert other.of_type(AGENT_POOL)["test-pools-initial"]["agentPoolName"] != initial["agentPoolName"]


def test_all_pools_have_the_version_of_nodes() -> None:
    found = pools(build({"cluster.nodeVersion": OLDER, "cluster.upgradeChannel": "none"}))
    assert {pool["orchestratorVersion"] for pool in found.values()} == {OLDER}


def test_only_the_first_type_of_a_pool_keeps_its_minimum() -> None:
    types = ["Standard_D8s_v5", "Standard_D8as_v5", "Standard_E8s_v5"]
    found = pools(build({"pools.workload.instanceTypes": types}))
    bounds = {n: (p["minCount"], p["maxCount"]) for n, p in found.items() if n.startswith("workload")}
    assert bounds == {
        "workload": (1, 10),
        "workload-d8as-v5": (0, 10),
        "workload-8cpu-64gib": (0, 10),
    }


def test_gpu_nodes_get_their_driver_from_aks() -> None:
    found = pools(built())
    assert {name for name, pool in found.items() if "gpuProfile" in pool} == {"gpu"}
    assert found["gpu"]["gpuProfile"] == {"driver": "Install"}
    assert found["gpu"]["nodeTaints"] == ["nvidia.com/gpu=present:NoSchedule"]


SLICED = {
    "role": "gpu",
    "size": {"min": 1, "max": 1},
    "instanceTypes": ["Standard_NC24ads_A100_v4"],
    "sharing": {"mode": "mig", "profile": "2g.20gb"},
}


def test_aks_divides_gpus_itself() -> None:
    made = build({"pools.sliced": SLICED})
    found = pools(made)
    assert {name: pool["gpuInstanceProfile"] for name, pool in found.items() if "gpuInstanceProfile" in pool} == {
        "sliced": "MIG2g"
    }
    assert found["sliced"]["nodeTaints"] == ["nvidia.com/mig-2g.20gb=present:NoSchedule"]
    assert found["sliced"]["nodeLabels"]["igz-clusters.io/gpu-sharing"] == "mig-2g.20gb-3"
    (plugin,) = (
        each["spec"]["template"]["spec"]
        for name, each in made.of_type("kubernetes:apps/v1:DaemonSet").items()
        if name.endswith("mig-2g.20gb-3")
    )
    assert "initContainers" not in plugin
    assert [volume["name"] for volume in plugin["volumes"]] == ["kubelet-sockets"]


def test_other_slices_are_another_pool() -> None:
    whole = {key: value for key, value in SLICED.items() if key != "sharing"}
    other = {**SLICED, "sharing": {"mode": "mig", "profile": "1g.10gb"}}
    turns = {**SLICED, "sharing": {"mode": "time-slicing", "replicas": 2}}
    names = [pools(build({"pools.sliced": pool}))["sliced"]["agentPoolName"] for pool in (SLICED, other, whole, turns)]
    assert len(set(names[:3])) == 3  # AKS cannot change the slices of a pool
    assert names[2] == names[3]  # turns are the plug-in's


def test_a_reserved_pool_uses_its_reservation_group_in_one_zone() -> None:
    group = (
        "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/gpus"
        "/providers/Microsoft.Compute/capacityReservationGroups/gpus"
    )
    reserved = {
        "role": "gpu",
        "lifecycle": "reserved",
        "size": {"min": 0, "max": 2},
        "instanceTypes": ["Standard_NC24ads_A100_v4"],
        "zone": "2",
        "reservation": {"id": group},
    }
    pool = pools(build({"pools.train": reserved}))["train"]
    assert pool["capacityReservationGroupID"] == group
    assert (pool["availabilityZones"], pool["scaleSetPriority"]) == (["2"], "Regular")
    assert pool["nodeLabels"]["igz-clusters.io/lifecycle"] == "reserved"
    assert pool["nodeLabels"]["app.iguazio.com/lifecycle"] == "non-preemptible"
    assert not any("capacityReservationGroupID" in each for each in pools(built()).values())


CLOSE = {"pools.workload.zone": "2", "pools.workload.closeTogether": True}


def test_machines_that_are_close_together_are_in_a_proximity_placement_group_of_their_zone_and_type() -> None:
    made = build(CLOSE)
    ((name, near),) = made.of_type(PLACEMENT).items()
    assert (name, near["proximityPlacementGroupName"]) == ("test-pools-workload-2-d8s-v5", "workload-2-d8s-v5")
    assert (near["proximityPlacementGroupType"], near["location"]) == ("Standard", "westeurope")
    assert "zones" not in near  # the pool says where it is
    pool = pools(made)["workload"]
    assert pool["proximityPlacementGroupID"].endswith(
        "/resourceGroups/research/providers/Microsoft.Compute/proximityPlacementGroups/workload-2-d8s-v5"
    )
    assert pool["availabilityZones"] == ["2"]
    assert (PLACEMENT, name) in made.needs((AGENT_POOL, "test-pools-workload"))
    assert not any("proximityPlacementGroupID" in each for each in pools(built()).values())


def test_another_zone_and_another_type_have_another_placement_group() -> None:
    """It is there before the new pool, and goes after the old one; both would be in one data center otherwise."""
    before = build(CLOSE)
    for changes in ({"pools.workload.zone": "3"}, {"pools.workload.instanceTypes": ["Standard_D16s_v5"]}):
        after = build({**CLOSE, **changes})
        assert set(after.of_type(PLACEMENT)).isdisjoint(before.of_type(PLACEMENT))
        assert names(after)["test-pools-workload"] != names(before)["test-pools-workload"]


@pytest.mark.parametrize("name", DATA)
def test_a_data_pool_is_guarded_in_every_way_that_aks_offers(name: str) -> None:
    pool, options = pools(built())[name], built().options[AGENT_POOL, f"test-pools-{name}"]
    assert options.protect
    assert options.retain_on_delete
    assert options.ignore_changes == ("orchestratorVersion",)
    assert (pool["count"], pool["enableAutoScaling"], pool["scaleSetPriority"]) == (1, False, "Regular")


def test_other_pools_are_upgraded_and_replaced_freely() -> None:
    for name, pool in built().of_type(AGENT_POOL).items():
        if name.removeprefix("test-pools-") not in DATA:
            options = built().options[AGENT_POOL, name]
            assert not options.protect
            assert not options.retain_on_delete
            assert "orchestratorVersion" not in options.ignore_changes
            assert pool["orchestratorVersion"] == CHOSEN


def test_pools_are_made_one_after_the_other() -> None:
    """A colleague's pool in the middle of one that is changed is refused by AKS."""
    made = built().of_type(AGENT_POOL)
    direct = [n for n in made if not any("AgentPool::" in urn for urn in _dependencies(n))]
    assert len(direct) == 1
    assert max(len({key for key in built().needs((AGENT_POOL, n)) if key[0] == AGENT_POOL}) for n in made) == (
        len(made) - 1
    )


def _dependencies(name: str) -> tuple[str, ...]:
    return built().options[AGENT_POOL, name].dependencies


@pytest.mark.parametrize(
    "changes",
    [
        {"pools.workload.instanceTypes": ["Standard_D16s_v5"]},
        {"pools.workload.lifecycle": "spot"},
        {"cluster.rootVolumeGib": 256},
        {"cluster.zones": ["1", "2"], "pools.data": None},
    ],
)
def test_a_change_of_what_aks_never_changes_makes_a_pool_of_another_name_beside_the_old_one(changes: Props) -> None:
    before, after = built(), build(changes)
    assert names(before)["test-pools-workload"] != names(after)["test-pools-workload"]
    # Said to the engine, since the plug-in itself asks for the old one to go first.
    assert after.options[AGENT_POOL, "test-pools-workload"].delete_before_replace is False


@pytest.mark.parametrize(
    "changes",
    [
        {"pools.workload.size": {"min": 2, "max": 30}},
        {"pools.workload.labels": {"example.com/team": "other"}},
        {"cluster.version": NEWEST},
        {"cluster.tags.team": "other"},
    ],
)
def test_any_other_change_leaves_every_pool_where_it_is(changes: Props) -> None:
    assert names(build(changes)) == names(built())


def test_another_type_is_another_pool_and_touches_nothing_else() -> None:
    before = built().of_type(AGENT_POOL)
    after = build({"pools.workload.instanceTypes": ["Standard_D8s_v5", "Standard_D16s_v5"]}).of_type(AGENT_POOL)
    assert set(after) - set(before) == {"test-pools-workload-16cpu-64gib"}
    assert {name: after[name] for name in before} == before


def test_renaming_a_pool_and_reordering_the_others_leaves_theirs_as_they_are() -> None:
    choices = DOCUMENT["pools"]
    renamed = {"vision" if name == "workload" else name: choices[name] for name in reversed(choices)}
    before, after = built().of_type(AGENT_POOL), build({"pools": renamed}).of_type(AGENT_POOL)
    assert set(before) ^ set(after) == {"test-pools-workload", "test-pools-vision"}
    common = set(before) & set(after)
    assert {name: after[name] for name in common} == {name: before[name] for name in common}
