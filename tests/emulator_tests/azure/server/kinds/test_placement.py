from support.aks_account import LOCATION, Account, unique


def made(own: Account) -> str:
    id_ = f"{own.group}/providers/Microsoft.Compute/proximityPlacementGroups/{unique('near')}"
    return str(own.put(id_, {"location": LOCATION, "properties": {}}).body["id"])


def test_a_group_without_more_is_a_standard_one(own: Account) -> None:
    assert own.properties(made(own)) == {"proximityPlacementGroupType": "Standard"}


def test_a_zone_needs_sizes(own: Account) -> None:
    id_ = f"{own.group}/providers/Microsoft.Compute/proximityPlacementGroups/{unique('near')}"
    zonal = {"location": LOCATION, "zones": ["1"]}
    assert own.refused("PUT", id_, zonal).status == 400
    own.put(id_, {**zonal, "properties": {"intent": {"vmSizes": ["Standard_D8s_v5"]}}})


def test_pools_are_in_a_group_that_exists_and_in_one_zone_of_it(own: Account) -> None:
    cluster, near = own.cluster(), made(own)
    told = own.refused("PUT", f"{cluster}/agentPools/far", own.pool_body(proximityPlacementGroupID=f"{near}2"))
    assert (told.status, "was not found" in told.message) == (400, True)

    wide = own.pool_body(proximityPlacementGroupID=near, availabilityZones=["1", "2"])
    assert own.refused("PUT", f"{cluster}/agentPools/wide", wide).status == 400

    first = own.pool_body(proximityPlacementGroupID=near, availabilityZones=["1"])
    own.put(f"{cluster}/agentPools/first", first)
    assert own.refused("PUT", f"{cluster}/agentPools/wide", wide).status == 400


def test_a_group_in_use_stays_and_the_group_of_a_pool_too(own: Account) -> None:
    cluster, near, other = own.cluster(), made(own), made(own)
    pool = own.pool_body(proximityPlacementGroupID=near, availabilityZones=["1"])
    own.put(f"{cluster}/agentPools/first", pool)
    assert own.refused("DELETE", near).status == 409
    moved = own.pool_body(proximityPlacementGroupID=other, availabilityZones=["1"])
    assert own.refused("PUT", f"{cluster}/agentPools/first", moved).code == "PropertyChangeNotAllowed"

    own.delete(f"{cluster}/agentPools/first")
    own.delete(near)
