from typing import Any

import pytest

from support.aks_account import ELASTIC, SPOT, Account, parametrized, unique

SPOT_LABEL = "kubernetes.azure.com/scalesetpriority"


@pytest.fixture(scope="session")
def shared_cluster(shared_home: Account) -> str:
    return shared_home.cluster()


@pytest.fixture
def mine(home: Account, shared_cluster: str) -> str:
    """A cluster to which other tests add pools too."""
    assert home
    return shared_cluster


@parametrized(
    ({"vmSize": None}, "InvalidParameter", "agentPoolProfile.vmSize"),
    ({"vmSize": "m6i.large"}, "InvalidParameter", "m6i.large is not available"),
    ({"count": 1001}, "InvalidParameter", "0 to 1000"),
    ({"minCount": 1}, "InvalidParameter", "minCount is invalid. Error details: It cannot be set without"),
    ({"maxCount": 3}, "InvalidParameter", "maxCount is invalid. Error details: It cannot be set without"),
    ({"enableAutoScaling": True}, "InvalidParameter", "minCount and maxCount must be set"),
    ({**ELASTIC, "minCount": 6}, "InvalidParameter", "minCount 6 must be 0 to maxCount 5"),
    ({**ELASTIC, "count": 6}, "InvalidParameter", "from minCount 1 to maxCount 5, given 6"),
    ({"maxPods": 9}, "InvalidParameter", "10 to 250, given 9"),
    ({"availabilityZones": ["4"]}, "AvailabilityZoneNotSupported", "Zone 4"),
    ({"mode": "System", "count": 0}, "InvalidParameter", "at least one node"),
    ({"mode": "System", **ELASTIC, "minCount": 0}, "InvalidParameter", "at least one node"),
    ({"mode": "System", "maxPods": 29}, "InvalidParameter", "30 pods or more"),
    ({"mode": "System", **SPOT}, "InvalidParameter", "cannot be of priority Spot"),
    ({**SPOT, "upgradeSettings": {"maxSurge": "1"}}, "InvalidParameter", "Spot pools can't set max surge"),
    ({"upgradeSettings": {"maxSurge": "0"}}, "InvalidParameter", "cannot be 0 where maxUnavailable is 0"),
    ({"upgradeSettings": {"maxSurge": "much"}}, "InvalidParameter", "a number or per cent"),
    ({"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "few"}}, "InvalidParameter", "a number or per cent"),
    ({"upgradeSettings": {"maxSurge": "1", "maxUnavailable": "1"}}, "InvalidParameter", "together are a preview"),
    (
        {"mode": "System", "upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}},
        "InvalidParameter",
        "cannot be set for a system pool",
    ),
    ({"upgradeSettings": {"drainTimeoutInMinutes": 4}}, "InvalidParameter", "5 to 1440, given 4"),
    ({"upgradeSettings": {"nodeSoakDurationInMinutes": 31}}, "InvalidParameter", "0 to 30, given 31"),
    ({"nodeLabels": {"kubernetes.azure.com/a": "b"}}, "BadRequest", "preserved by aks system labels"),
    ({"nodeLabels": {SPOT_LABEL: "spot"}}, "BadRequest", "preserved by aks system labels"),
    ({"nodeLabels": {"kubernetes.io/role": "b"}}, "BadRequest", "must begin with an allowed prefix"),
    ({"nodeLabels": {"node-role.kubernetes.io/gpu": ""}}, "BadRequest", "must begin with an allowed prefix"),
    ({"nodeTaints": ["gpu:NoSchedule"]}, "InvalidParameter", "key=value:Effect"),
    ({"nodeTaints": ["a=b:NO_SCHEDULE"]}, "InvalidParameter", "one of NoExecute, NoSchedule, PreferNoSchedule"),
    ({"nodeTaints": ["a=b:NoSchedule", "a=c:NoSchedule"]}, "InvalidParameter", "there twice"),
    ({"nodeTaints": [f"{SPOT_LABEL}=spot:NoSchedule"]}, "InvalidParameter", "reserved for AKS"),
    ({"mode": "System", "nodeTaints": ["a=b:NoSchedule"]}, "SystemPoolHasRestrictedTaint", "CriticalAddonsOnly"),
    ({"vnetSubnetID": "/subscriptions/s/nowhere"}, "InvalidParameter", "was not found"),
    ({"vnetSubnetID": None}, "InvalidParameter", "the same virtual network"),
)
def test_what_does_not_go_together_is_refused(
    home: Account, mine: str, changes: dict[str, Any], code: str, words: str
) -> None:
    id_ = f"{mine}/agentPools/{unique('pool')}"
    told = home.refused("PUT", id_, home.pool_body(**changes))
    assert (told.status, told.code) == (400, code)
    assert words in told.message
    assert home.ask("GET", id_).status == 404


@pytest.mark.parametrize("name", ["Gpu", "1gpu", "gpu-pool", "abcdefghijklm", "g_u"])
def test_a_name_is_short_and_plain(home: Account, mine: str, name: str) -> None:
    told = home.refused("PUT", f"{mine}/agentPools/{name}", home.pool_body())
    assert (told.code, "at most 12" in told.message) == ("InvalidParameter", True)


@pytest.mark.parametrize(
    "changes",
    [
        {"nodeLabels": {"node.kubernetes.io/role": "a", "igz-clusters.io/role": "b"}},
        {"nodeTaints": ["nvidia.com/gpu=present:NoSchedule", "a=:NoExecute"]},
        {"mode": "System", "nodeTaints": ["CriticalAddonsOnly=true:NoSchedule"]},
        {"mode": "System", "nodeTaints": ["a=b:PreferNoSchedule"]},
        {"enableAutoScaling": True, "minCount": 0, "maxCount": 3, "count": 0},
        {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "25%", "drainTimeoutInMinutes": 1440}},
    ],
    ids=str,
)
def test_what_goes_together_is_taken(home: Account, mine: str, changes: dict[str, Any]) -> None:
    found = home.properties(home.pool(mine, **changes))
    assert {name: found[name] for name in changes} == changes


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("availabilityZones", ["2"]),
        ("enableEncryptionAtHost", True),
        ("maxPods", 60),
        ("osDiskSizeGB", 256),
        ("osDiskType", "Ephemeral"),
        ("scaleSetPriority", "Spot"),
        ("vmSize", "Standard_D16s_v5"),
        ("gpuProfile", {"driver": "None"}),
        ("kubeletConfig", {"cpuManagerPolicy": "static"}),
    ],
)
def test_what_a_pool_is_made_with_does_not_change(home: Account, mine: str, name: str, value: Any) -> None:
    pool = home.pool(mine, availabilityZones=["1"], osDiskSizeGB=128, osDiskType="Managed")
    told = home.refused("PUT", pool, home.pool_body(**{"availabilityZones": ["1"], name: value}))
    assert told.code == "PropertyChangeNotAllowed"
    assert told.message == f"Changing property 'properties.{name}' is not allowed."


def test_only_some_gpus_are_divided(home: Account, mine: str) -> None:
    body = home.pool_body(vmSize="Standard_NC4as_T4_v3", gpuInstanceProfile="MIG1g")
    told = home.refused("PUT", f"{mine}/agentPools/slices", body)
    assert "gpuInstanceProfile" in told.message
    pool = home.pool(mine, vmSize="Standard_NC24ads_A100_v4", gpuInstanceProfile="MIG1g")
    told = home.refused("PUT", pool, home.pool_body(vmSize="Standard_NC24ads_A100_v4", gpuInstanceProfile="MIG2g"))
    assert told.message == "Changing property 'properties.gpuInstanceProfile' is not allowed."


def test_what_is_left_out_stays_as_it_is(home: Account, mine: str) -> None:
    pool = home.pool(mine, nodeLabels={"a": "b"}, maxPods=60, osDiskSizeGB=256)
    home.put(pool, {"properties": {"count": 2, "mode": "User"}})
    found = home.properties(pool)
    assert (found["count"], found["nodeLabels"], found["maxPods"], found["osDiskSizeGB"]) == (2, {"a": "b"}, 60, 256)


def test_a_change_needs_the_count(home: Account, mine: str) -> None:
    pool = home.pool(mine, **ELASTIC)
    body = home.pool_body(**ELASTIC, nodeLabels={"a": "b"})
    del body["properties"]["count"]
    told = home.refused("PUT", pool, body)
    assert told.message == "Required parameter properties.count is missing (null)."


def test_aks_adds_label_and_taint_of_a_spot_pool(home: Account, mine: str) -> None:
    pool = home.pool(mine, scaleSetPriority="Spot", nodeLabels={"a": "b"}, nodeTaints=["c=d:NoSchedule"])
    found = home.properties(pool)
    assert found["nodeLabels"] == {"a": "b", SPOT_LABEL: "spot"}
    assert found["nodeTaints"] == ["c=d:NoSchedule", f"{SPOT_LABEL}=spot:NoSchedule"]
    assert (found["scaleSetEvictionPolicy"], found["spotMaxPrice"]) == ("Delete", -1)
    assert "upgradeSettings" not in found


def test_a_spot_pool_keeps_the_taint_that_aks_added(home: Account, mine: str) -> None:
    pool = home.pool(mine, **SPOT)
    told = home.refused("PUT", pool, home.pool_body(**SPOT, nodeTaints=["c=d:NoSchedule"]))
    assert told.message == "Changing property 'properties.nodeTaints' is not allowed."
    whole = {"nodeTaints": [f"{SPOT_LABEL}=spot:NoSchedule"], "nodeLabels": {SPOT_LABEL: "spot"}}
    home.put(pool, home.pool_body(**SPOT, **whole, tags={"a": "b"}))
    assert home.properties(pool)["nodeTaints"] == [f"{SPOT_LABEL}=spot:NoSchedule"]


def test_pools_of_a_cluster_cannot_all_be_tainted(own: Account) -> None:
    tainted = own.system_pool(nodeTaints=["a=b:NoSchedule"])
    told = own.refused("PUT", own.cluster_id(), own.cluster_body(agentPoolProfiles=[tainted]))
    assert (told.status, told.code) == (400, "CanNotTaintAllAgentPools")
