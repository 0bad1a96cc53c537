import pytest

from emulators.core.faults import StuckRule
from support.aks_account import LOCATION, SUBSCRIPTION, Account, account, unique
from support.aws import eventually


def test_everything_in_a_group_goes_with_it(own: Account) -> None:
    own.cluster()
    told = own.delete(own.group)
    assert own.az.follow(told.headers["location"]).status == 200
    assert "azure-asyncoperation" not in told.headers
    inside = f"{own.group.lower()}/"
    left = [id_ for ids in own.az.inventory().values() for id_ in ids if id_.lower().startswith(inside)]
    assert left == []
    assert own.refused("GET", own.group).code == "ResourceGroupNotFound"


def test_what_others_made_in_a_group_is_listed_and_goes_with_it(own: Account) -> None:
    stranger = f"{own.group}/providers/Microsoft.Cache/redis/results"
    own.az.leave_resource(stranger)
    listed = own.ask("GET", f"{own.group}/resources").body["value"]
    assert stranger in {each["id"] for each in listed}
    assert stranger in own.az.inventory()["Microsoft.Cache/redis"]
    own.delete(own.group)
    assert stranger not in own.az.inventory().get("Microsoft.Cache/redis", [])


def test_the_group_of_a_clusters_nodes_goes_with_the_clusters_group(own: Account) -> None:
    nodes = own.properties(own.cluster())["nodeResourceGroup"]
    own.delete(own.group)
    assert own.ask("GET", f"{SUBSCRIPTION}/resourceGroups/{nodes}").status == 404


def test_nothing_is_made_in_a_group_that_goes(own: Account) -> None:
    own.az.set_scale(0.1)
    told = own.delete(own.group)
    assert own.state(own.group) == "Deleting"
    body = {"location": LOCATION, "properties": {}}
    assert own.refused("PUT", own.network("networkSecurityGroups"), body).code == "ResourceGroupBeingDeleted"
    assert own.refused("PUT", own.group, {"location": LOCATION}).code == "ResourceGroupBeingDeleted"
    assert own.az.follow(told.headers["location"]).status == 202
    assert eventually(lambda: own.az.follow(told.headers["location"]).status == 200)


def test_a_group_that_somebody_outside_needs_stays(own: Account) -> None:
    other = account(own.az)
    other.grant(other.identity, "b24988ac-6180-42a0-ab88-20f7382dd24c", own.group)
    system = other.system_pool(vnetSubnetID=own.subnet)
    other.cluster(agentPoolProfiles=[system])
    told = own.delete(own.group)
    result = own.az.follow(told.headers["location"])
    assert (result.status, result.code) == (409, "ResourceGroupDeletionBlocked")
    assert own.state(own.group) == "Failed"
    assert own.get(own.subnet)["name"] == "nodes"


def test_a_deletion_asked_for_twice_is_one(own: Account) -> None:
    own.az.set_faults(StuckRule(operation="Microsoft.Resources/resourceGroups/delete"))
    addresses = {own.delete(own.group).headers["location"] for _ in range(2)}
    assert len(addresses) == 1


def test_a_group_stays_where_it_is(own: Account) -> None:
    told = own.refused("PUT", own.group, {"location": "northeurope"})
    assert (told.status, told.code) == (409, "InvalidResourceGroupLocation")
    assert own.ask("PUT", own.group, {"location": LOCATION, "tags": {"a": "b"}}).status == 200
    assert own.get(own.group)["tags"] == {"a": "b"}


@pytest.mark.parametrize(("name", "body"), [("a b", {"location": LOCATION}), ("plain", {}), ("p", {"location": 1})])
def test_a_group_that_cannot_be_is_refused(own: Account, name: str, body: dict[str, object]) -> None:
    told = own.refused("PUT", f"{SUBSCRIPTION}/resourceGroups/{unique(name)}", body)
    assert told.code in {"InvalidResourceName", "InvalidRequestContent"}


def test_a_group_that_is_not_there_is_not_removed(own: Account) -> None:
    assert own.refused("DELETE", f"{own.group}-gone").code == "ResourceGroupNotFound"
