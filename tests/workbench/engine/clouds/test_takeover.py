"""The pool that a cluster was created with becomes a resource of the state, so that the engine can delete it."""

from typing import Any

import pytest

from workbench.engine.clouds.aks.conditions import CLUSTER, POOL
from workbench.engine.clouds.aks.takeover import POOLS, entered, unfit_successors

BASE = "urn:pulumi:prod::igz-clusters"
PARENT = f"{BASE}::igz-clusters:clusters:AksCluster${POOLS}::prod-pools"
ID = "/subscriptions/s/resourceGroups/research/providers/Microsoft.ContainerService/managedClusters/research"
PROFILE = {"name": "initial", "mode": "System", "count": 3, "vmSize": "Standard_D4s_v5", "nodeTaints": None}
SUCCESSOR = {"name": "initialab12", "mode": "System", "count": 3, "tags": {"igz-clusters-took-over": "initial"}}


def cluster(*profiles: dict[str, Any]) -> dict[str, Any]:
    place = {"resourceGroupName": "research", "resourceName": "research"}
    return {
        "urn": f"{BASE}::{CLUSTER}::prod-cluster",
        "type": CLUSTER,
        "id": ID,
        "provider": f"{BASE}::pulumi:providers:azure-native::prod-azure::1",
        "inputs": place,
        "outputs": {"agentPoolProfiles": [*profiles]},
    }


COMPONENT = {"urn": PARENT, "type": POOLS}


def pool(state: str = "Succeeded", mode: str = "System", **entry: Any) -> dict[str, Any]:
    return {
        "urn": f"{PARENT}-initial",
        "type": POOL,
        "id": f"{ID}/agentPools/initialab12",
        "inputs": {"mode": mode, "agentPoolName": "initialab12"},
        "outputs": {"provisioningState": state},
        **entry,
    }


def test_it_is_entered_below_the_other_pools_with_what_azure_says_of_it() -> None:
    before = {"resources": [cluster(PROFILE, SUCCESSOR), COMPONENT, pool()]}
    found = entered(before, "initial")
    assert found
    *others, entry = found["resources"]
    assert others == before["resources"]
    assert entry["urn"] == f"{BASE}::igz-clusters:clusters:AksCluster${POOLS}${POOL}::prod-pools-created-with"
    assert (entry["id"], entry["parent"], entry["custom"]) == (f"{ID}/agentPools/initial", PARENT, True)
    assert entry["provider"] == cluster()["provider"]
    assert entry["dependencies"] == [cluster()["urn"], pool()["urn"]], "AKS deletes one pool at a time"
    assert entry["deletedWith"] == cluster()["urn"], "AKS deletes no last system pool, but all pools with their cluster"
    assert entry["inputs"] == {
        "resourceGroupName": "research",
        "resourceName": "research",
        "agentPoolName": "initial",
        "mode": "System",
        "count": 3,
        "vmSize": "Standard_D4s_v5",
    }
    assert entered(found, "initial") is None, "a second time there is nothing to enter"


def test_that_of_a_cluster_that_was_created_again_is_entered_again() -> None:
    again = {**PROFILE, "tags": SUCCESSOR["tags"]}
    assert entered({"resources": [cluster(again), COMPONENT, pool()]}, "initial")


@pytest.mark.parametrize(
    "resources",
    [
        [],
        [COMPONENT],
        [cluster(PROFILE)],
        [cluster(SUCCESSOR), COMPONENT, pool()],
        [{**cluster(PROFILE), "delete": True}, COMPONENT, pool()],
        [cluster(PROFILE), COMPONENT, pool(mode="User")],
        [cluster(PROFILE), COMPONENT, pool("Failed")],
        [cluster(PROFILE), COMPONENT, pool("Creating")],
        [cluster(PROFILE), COMPONENT, pool(delete=True)],
    ],
    ids=[
        *("nothing", "no cluster", "no pools yet", "gone", "the cluster goes", "no successor"),
        *("a successor that failed", "a successor that is being made", "a successor that goes"),
    ],
)
def test_nothing_else_is_entered(resources: list[dict[str, Any]]) -> None:
    assert entered({"resources": resources}, "initial") is None


OLD = pool(delete=True)
CREATED_WITH = pool(urn=f"{PARENT}-created-with")


@pytest.mark.parametrize(
    ("resources", "is_unfit"),
    [
        ([pool("Failed"), OLD], True),
        ([pool("Failed"), CREATED_WITH], True),
        ([pool("Canceled"), OLD], True),
        ([pool(), OLD], False),
        ([pool(), CREATED_WITH], False),
        ([pool("Failed")], False),
        ([pool("Failed", mode="User"), pool(mode="User", delete=True)], False),
    ],
)
def test_a_system_pool_that_failed_lets_the_one_before_it_stay(resources: list[dict[str, Any]], is_unfit: bool) -> None:
    assert [*unfit_successors({"resources": resources})] == (resources[:1] if is_unfit else [])
