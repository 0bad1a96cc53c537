"""Keys of secrets: roles that must hold, and clusters that can no longer decrypt."""

from collections.abc import Iterator
from typing import Any

import pytest

from support.aks_account import CRYPTO_USER, IDENTITY_OPERATOR, Account

CODE = "AzureKeyVaultKmsValidateIdentityPermissionCustomerError"


def key(vault: str = "vault", **changes: Any) -> dict[str, Any]:
    """Return the properties of a cluster with a key of a vault."""
    kms = {"enabled": True, "keyId": f"https://{vault}.vault.azure.net/keys/secrets", "keyVaultNetworkAccess": "Public"}
    return {"securityProfile": {"azureKeyVaultKms": {**kms, **changes}}}


def write(own: Account, cluster: str, **changes: Any) -> None:
    own.put(cluster, own.cluster_body(nodeResourceGroup=own.properties(cluster)["nodeResourceGroup"], **changes))


@pytest.fixture
def slow(own: Account) -> Iterator[Account]:
    """An account in which everything takes its time, which only the test lets pass."""
    own.az.set_scale(1)
    yield own
    own.az.set_scale(0)


def test_an_identity_that_may_not_use_the_key_is_refused(own: Account) -> None:
    told = own.refused("PUT", own.cluster_id(), own.cluster_body(**key()))
    assert (told.status, told.code) == (400, CODE)
    assert told.message.endswith('permission on key vault "https://vault.vault.azure.net".')
    own.grant(own.identity, "b24988ac-6180-42a0-ab88-20f7382dd24c", own.vault())  # Contributor is no role on keys
    own.grant(own.identity, CRYPTO_USER, own.vault("another"))
    assert own.refused("PUT", own.cluster_id(), own.cluster_body(**key())).code == CODE
    own.cluster(**key(keyVaultNetworkAccess="Private", keyVaultResourceId=own.vault()))
    own.grant(own.identity, CRYPTO_USER, own.vault())
    own.cluster(**key())


def test_a_role_on_the_key_holds_after_a_while(slow: Account) -> None:
    slow.grant(slow.identity, CRYPTO_USER, slow.vault())
    id_, body = slow.cluster_id(), slow.cluster_body(**key())
    assert slow.refused("PUT", id_, body).code == CODE
    slow.az.advance(600)
    assert slow.put(id_, body).status == 201


def test_a_role_on_the_nodes_identity_holds_after_a_while(slow: Account) -> None:
    nodes = slow.new_identity()
    slow.grant(slow.identity, IDENTITY_OPERATOR, nodes)
    id_, body = slow.cluster_id(), slow.cluster_body(identityProfile={"kubeletidentity": {"resourceId": nodes}})
    told = slow.refused("PUT", id_, body)
    assert (told.status, told.code) == (400, "CustomKubeletIdentityMissingPermissionError")
    slow.az.advance(600)
    assert slow.put(id_, body).status == 201


def test_a_new_identity_is_known_after_a_while_unless_it_is_said_to_be_one(slow: Account) -> None:
    body = slow.grant_body(slow.new_identity(), IDENTITY_OPERATOR)
    unsaid = {"properties": {name: value for name, value in body["properties"].items() if name != "principalType"}}
    id_ = f"{slow.group}/providers/Microsoft.Authorization/roleAssignments/11111111-2222-3333-4444-555555555555"
    told = slow.refused("PUT", id_, unsaid)
    assert (told.status, told.code) == (400, "PrincipalNotFound")
    slow.az.advance(600)
    assert slow.put(id_, unsaid).status == 201


def test_a_cluster_whose_role_is_gone_cannot_decrypt(own: Account) -> None:
    role = own.grant(own.identity, CRYPTO_USER, own.vault())
    mine = own.cluster(**key())
    assert own.az.ailments(mine) == []
    own.delete(role)
    who, what = mine.rpartition("/")[2], "https://vault.vault.azure.net/keys/secrets"
    assert own.az.ailments(mine) == [f"Secrets cannot be decrypted: the identity of {who} may not use {what}."]
    assert own.properties(mine)["powerState"] == {"code": "Running"}
    own.grant(own.identity, CRYPTO_USER, own.vault())
    assert own.az.ailments(mine) == []


def test_the_key_before_is_needed_until_the_next_change_and_after_it_was_turned_off(own: Account) -> None:
    roles = {name: own.grant(own.identity, CRYPTO_USER, own.vault(name)) for name in ("first", "second", "third")}
    mine = own.cluster(**key("first"))
    write(own, mine, **key("second"))
    own.delete(roles["first"])
    assert ["first" in each for each in own.az.ailments(mine)] == [True]
    write(own, mine, **key("third"))
    assert own.az.ailments(mine) == []
    write(own, mine, **key("third", enabled=False))
    own.delete(roles["third"])
    assert ["third" in each for each in own.az.ailments(mine)] == [True]
