from typing import Any

import pytest

from support.aks_account import LOCATION, Account, account, unique

ENDPOINT = {"serviceEndpoints": [{"service": "Microsoft.Storage"}]}
NFS = {"enabledProtocols": "NFS", "shareQuota": 100}


def id_of(own: Account, name: str = "") -> str:
    return f"{own.group}/providers/Microsoft.Storage/storageAccounts/{name or unique('files')}"


def body(**properties: Any) -> dict[str, Any]:
    return {"location": LOCATION, "kind": "FileStorage", "sku": {"name": "Premium_ZRS"}, "properties": properties}


def made(own: Account, **properties: Any) -> str:
    return str(own.put(id_of(own), body(**properties)).body["id"])


def admitting(own: Account) -> dict[str, Any]:
    return {"networkAcls": {"defaultAction": "Deny", "virtualNetworkRules": [{"id": own.subnet}]}}


def test_an_account_says_what_it_lets_in_and_where_it_answers(own: Account) -> None:
    own.put(own.subnet, {"properties": {"addressPrefix": "10.1.0.0/20", **ENDPOINT}})
    id_ = made(own, **admitting(own), allowSharedKeyAccess=False)
    told = own.get(id_)
    assert told["sku"] == {"name": "Premium_ZRS", "tier": "Premium"}
    assert told["properties"]["networkAcls"]["virtualNetworkRules"] == [
        {"id": own.subnet, "action": "Allow", "state": "Succeeded"}
    ]
    name = id_.rpartition("/")[2]
    assert told["properties"]["primaryEndpoints"]["file"] == f"https://{name}.file.core.windows.net/"


def test_a_subnet_is_let_in_only_with_its_endpoint_and_is_not_held_by_the_account(own: Account) -> None:
    told = own.refused("PUT", id_of(own), body(**admitting(own)))
    assert (told.status, told.code) == (400, "NetworkAclsValidationFailure")
    assert "SubnetsHaveNoServiceEndpointsConfigured" in told.message
    own.put(own.subnet, {"properties": {"addressPrefix": "10.1.0.0/20", **ENDPOINT}})
    id_ = made(own, **admitting(own))
    own.delete(own.subnet)
    own.put(own.subnet, {"properties": {"addressPrefix": "10.1.0.0/20", **ENDPOINT}})
    assert own.properties(id_)["networkAcls"]["virtualNetworkRules"] == [], "another subnet of that name is not let in"


def test_a_name_is_taken_once_in_all_of_azure(own: Account) -> None:
    name = made(own).rpartition("/")[2]
    other = account(own.az)
    told = other.refused("PUT", id_of(other, name), body())
    assert (told.status, told.code) == (409, "StorageAccountAlreadyTaken")


@pytest.mark.parametrize(
    ("name", "changes", "code"),
    [
        ("Files", {}, "InvalidResourceName"),
        ("fi", {}, "InvalidResourceName"),
        ("", {"sku": {"name": "Standard_ZRS"}}, "BadRequest"),
        ("", {"kind": "Files"}, "InvalidRequestContent"),
        ("", {"properties": {"networkAcls": {}}}, "InvalidRequestContent"),
        ("", {"location": ""}, "LocationRequired"),
    ],
)
def test_an_account_that_cannot_be_is_refused(own: Account, name: str, changes: dict[str, Any], code: str) -> None:
    assert own.refused("PUT", id_of(own, name), {**body(), **changes}).code == code


def test_kind_and_sku_stay(own: Account) -> None:
    id_ = made(own)
    for change in ({"sku": {"name": "Premium_LRS"}}, {"kind": "BlockBlobStorage"}):
        assert own.refused("PUT", id_, {**body(), **change}).code == "PropertyChangeNotAllowed"
    own.put(id_, body(allowSharedKeyAccess=False))
    assert own.properties(id_)["allowSharedKeyAccess"] is False


def test_a_file_service_comes_and_goes_with_its_account(own: Account) -> None:
    id_ = made(own)
    service = f"{id_}/fileServices/default"
    assert own.properties(service)["shareDeleteRetentionPolicy"] == {"enabled": True, "days": 7}
    assert service not in own.az.inventory().get("azure-native:storage:FileServiceProperties", [])
    own.put(service, {"properties": {"shareDeleteRetentionPolicy": {"enabled": True, "days": 14}}})
    assert service in own.az.inventory()["azure-native:storage:FileServiceProperties"]
    assert own.refused("DELETE", service).code == "MethodNotAllowed"
    own.put(service, {})
    assert own.properties(service)["shareDeleteRetentionPolicy"] == {"enabled": True, "days": 7}
    assert service not in own.az.inventory().get("azure-native:storage:FileServiceProperties", [])
    own.delete(id_)
    assert own.ask("GET", service).status == 404


def test_a_share_grows_and_keeps_its_protocol(own: Account) -> None:
    share = f"{made(own)}/fileServices/default/shares/vision-shared"
    own.put(share, {"properties": NFS})
    own.put(share, {"properties": {**NFS, "shareQuota": 200}})
    assert own.properties(share)["shareQuota"] == 200
    told = own.refused("PUT", share, {"properties": {**NFS, "enabledProtocols": "SMB"}})
    assert told.code == "PropertyChangeNotAllowed"


@pytest.mark.parametrize(
    ("name", "properties", "code"),
    [
        ("shared", {**NFS, "shareQuota": 99}, "BadRequest"),
        ("shared", {**NFS, "shareQuota": 102_401}, "BadRequest"),
        ("shared", {"enabledProtocols": "NFS"}, "BadRequest"),
        ("shared", {**NFS, "enabledProtocols": "FTP"}, "InvalidRequestContent"),
        ("a--b", NFS, "InvalidResourceName"),
        ("ab", NFS, "InvalidResourceName"),
    ],
)
def test_a_share_that_cannot_be_is_refused(own: Account, name: str, properties: dict[str, Any], code: str) -> None:
    share = f"{made(own)}/fileServices/default/shares/{name}"
    assert own.refused("PUT", share, {"properties": properties}).code == code


def test_a_share_needs_its_account(own: Account) -> None:
    share = f"{id_of(own)}/fileServices/default/shares/shared"
    assert own.refused("PUT", share, {"properties": NFS}).code == "ParentResourceNotFound"
