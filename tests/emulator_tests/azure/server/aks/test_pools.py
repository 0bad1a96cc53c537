from emulators.core.faults import FailedRule, Issue, StuckRule
from support.aks_account import ELASTIC, SPOT, Account, unique
from support.aws import eventually
from support.minors import CHOSEN, EARLIER, OLDER, after

WRITE = "Microsoft.ContainerService/managedClusters/agentPools/write"
NO_SPOT = Issue(code="AllocationFailed", message="There is no spot capacity.")


def test_a_pool_is_creating_and_then_there(home: Account) -> None:
    told = home.put(f"{home.cluster()}/agentPools/gpu", home.pool_body(availabilityZones=["2"]))
    assert (told.status, told.body["properties"]["provisioningState"]) == (201, "Creating")
    assert told.body["type"] == "Microsoft.ContainerService/managedClusters/agentPools"
    assert home.operation(told)["status"] == "Succeeded"
    assert home.state(told.body["id"]) == "Succeeded"
    assert home.ask("PUT", told.body["id"], home.pool_body(availabilityZones=["2"])).status == 200


def test_ids_of_aks_have_their_group_in_lower_case(home: Account) -> None:
    cluster = home.cluster()
    assert "/resourcegroups/" in cluster
    assert home.get(cluster.replace("/resourcegroups/", "/resourceGroups/"))["id"] == cluster


def test_only_one_pool_at_a_time_is_written(home: Account) -> None:
    cluster = home.cluster()
    home.az.set_faults(StuckRule(operation=WRITE, times=1))
    first = home.pool(cluster)
    told = home.refused("PUT", f"{cluster}/agentPools/second", home.pool_body())
    assert (told.status, told.code) == (409, "OperationNotAllowed")
    name = first.rpartition("/")[2]
    assert f"Another agentpool operation ({name} - Creating) is in progress" in told.message
    assert home.refused("DELETE", first).status == 409
    assert home.refused("PUT", cluster, home.cluster_body()).status == 409


def test_no_pool_is_written_while_the_cluster_changes(home: Account) -> None:
    cluster = home.cluster()
    home.az.set_faults(StuckRule(operation="*/managedClusters/write"))
    body = home.cluster_body(nodeResourceGroup=home.properties(cluster)["nodeResourceGroup"])
    home.put(cluster, {**body, "tags": {"a": "b"}})
    told = home.refused("PUT", f"{cluster}/agentPools/gpu", home.pool_body())
    assert (told.status, told.code) == (409, "OperationNotAllowed")


def test_another_cluster_s_pools_are_no_hindrance(home: Account) -> None:
    busy, free = home.cluster(), home.cluster()
    home.az.set_faults(StuckRule(operation=WRITE, times=1))
    home.pool(busy)
    assert home.state(home.pool(free)) == "Succeeded"


def test_a_pool_that_could_not_be_made_is_there_and_can_be_removed(home: Account) -> None:
    cluster = home.cluster()
    home.az.set_faults(FailedRule(operation=WRITE, issues=(NO_SPOT,)))
    told = home.put(f"{cluster}/agentPools/spot", home.pool_body(**SPOT))
    operation = home.operation(told)
    assert operation["status"] == "Failed"
    assert operation["error"] == {"code": NO_SPOT.code, "message": NO_SPOT.message}
    assert home.state(told.body["id"]) == "Failed"
    assert home.properties(told.body["id"])["status"] == {"provisioningError": operation["error"]}
    home.az.set_faults()
    assert home.state(home.put(told.body["id"], home.pool_body(**SPOT)).body["id"]) == "Succeeded"
    assert "status" not in home.properties(told.body["id"])
    home.delete(told.body["id"])
    assert home.ask("GET", told.body["id"]).status == 404


def test_what_never_ends_is_ended_by_hand(home: Account) -> None:
    home.az.set_faults(StuckRule(operation=WRITE))
    pool = home.pool(home.cluster())
    assert home.ask("POST", f"{pool}/abort").status == 200
    assert home.state(pool) == "Canceled"
    assert home.refused("POST", f"{pool}/abort").message.startswith("Nothing goes on in agent pool")
    home.delete(pool)


def test_a_cluster_keeps_a_system_pool(home: Account) -> None:
    cluster = home.cluster()
    told = home.refused("DELETE", f"{cluster}/agentPools/initial")
    assert told.message == "There has to be at least one system agent pool."
    home.pool(cluster, mode="System", count=3)
    home.delete(f"{cluster}/agentPools/initial")


def test_the_autoscaler_moves_a_pool_behind_everybodys_back(home: Account) -> None:
    pool = home.pool(home.cluster(), **ELASTIC)
    home.az.move(pool, 4)
    assert home.properties(pool)["count"] == 4


def test_a_whole_object_sets_the_count_that_it_says(home: Account) -> None:
    pool = home.pool(home.cluster(), **ELASTIC)
    home.az.move(pool, 4)
    home.put(pool, home.pool_body(**{**ELASTIC, "maxCount": 9}))
    assert home.properties(pool)["count"] == 1


def test_the_autoscaler_brings_a_pool_up_to_its_new_minimum(home: Account) -> None:
    pool = home.pool(home.cluster(), **ELASTIC)
    home.put(pool, home.pool_body(**{**ELASTIC, "minCount": 3}))
    assert home.properties(pool)["count"] == 3


def test_bounds_go_with_autoscaling(home: Account) -> None:
    pool = home.pool(home.cluster(), **ELASTIC)
    home.put(pool, home.pool_body(enableAutoScaling=False, count=2))
    assert not {"minCount", "maxCount"} & set(home.properties(pool))


def test_pools_take_versions_one_by_one_and_never_newer_than_their_cluster(home: Account) -> None:
    cluster = home.cluster(kubernetesVersion=OLDER)
    pool = home.pool(cluster, orchestratorVersion=after(EARLIER, -2))
    assert home.properties(pool)["currentOrchestratorVersion"].startswith(f"{after(EARLIER, -2)}.")
    too_far = home.refused("PUT", pool, home.pool_body(orchestratorVersion=EARLIER))
    assert too_far.code == "AgentPoolUpgradeVersionNotAllowed"
    assert "you can only upgrade one minor version at a time" in too_far.message
    told = home.put(pool, home.pool_body(orchestratorVersion=after(EARLIER, -1)))
    assert told.body["properties"]["provisioningState"] == "Upgrading"
    assert home.refused("PUT", pool, home.pool_body(orchestratorVersion=after(EARLIER, -2))).code == too_far.code
    newer = home.refused("PUT", f"{cluster}/agentPools/newer", home.pool_body(orchestratorVersion=CHOSEN))
    assert newer.code == "NodePoolMcVersionIncompatible"


def test_a_pool_that_is_too_old_for_its_cluster_is_refused(home: Account) -> None:
    cluster = home.cluster(kubernetesVersion=CHOSEN)
    told = home.refused("PUT", f"{cluster}/agentPools/old", home.pool_body(orchestratorVersion=after(EARLIER, -2)))
    assert (told.code, "3 minor versions older" in told.message) == ("NodePoolMcVersionIncompatible", True)


def test_a_version_that_is_not_offered_is_refused(home: Account) -> None:
    told = home.refused("PUT", f"{home.cluster()}/agentPools/old", home.pool_body(orchestratorVersion="1.19"))
    assert told.code == "K8sVersionNotSupported"


def test_a_scale_set_comes_and_goes_with_a_pool(own: Account) -> None:
    cluster = own.cluster()
    pool = own.pool(cluster)
    name, group = pool.rpartition("/")[2], own.properties(cluster)["nodeResourceGroup"]
    sets = [id_ for id_ in own.az.inventory()["Microsoft.Compute/virtualMachineScaleSets"] if f"/{group}/" in id_]
    assert sorted(id_.rpartition("/")[2] for id_ in sets) == sorted(["aks-initial-vmss", f"aks-{name}-vmss"])
    own.delete(pool)
    sets = [id_ for id_ in own.az.inventory()["Microsoft.Compute/virtualMachineScaleSets"] if f"/{group}/" in id_]
    assert [id_.rpartition("/")[2] for id_ in sets] == ["aks-initial-vmss"]


def test_writes_of_pools_have_a_rate(own: Account) -> None:
    cluster = own.cluster()
    own.az.set_scale(0.04)  # a minute in 2.4 seconds
    missing = f"{cluster}/agentPools/Gpu"
    codes = [own.ask("PUT", missing, own.pool_body()).code for _ in range(30)]
    assert codes[:20] == ["InvalidParameter"] * 20
    assert "TooManyRequests" in codes[20:]
    assert eventually(lambda: own.ask("PUT", missing, own.pool_body()).code == "InvalidParameter")


def test_a_pool_of_no_cluster_is_refused(home: Account) -> None:
    nowhere = f"{home.cluster_id()}/agentPools/{unique('p')}"
    told = home.refused("PUT", nowhere, home.pool_body())
    assert (told.status, told.code) == (404, "ParentResourceNotFound")


def test_a_subnet_that_is_delegated_takes_no_nodes(own: Account) -> None:
    delegation = {"name": "api", "properties": {"serviceName": "Microsoft.ContainerService/managedClusters"}}
    subnet = f"{own.subnet.rpartition('/')[0]}/api"
    own.put(subnet, {"properties": {"addressPrefix": "10.1.32.0/24", "delegations": [delegation]}})
    told = own.refused("PUT", f"{own.cluster()}/agentPools/gpu", own.pool_body(vnetSubnetID=subnet))
    assert "delegated to another service" in told.message
