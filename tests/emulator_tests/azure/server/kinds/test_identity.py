import uuid
from typing import Any

import pytest

from emulators.core.faults import NotYetVisibleRule
from support.aks_account import IDENTITY_OPERATOR, NETWORK_CONTRIBUTOR, Account

WRITE = "Microsoft.Authorization/roleAssignments/write"


def assignment(own: Account, name: str = "") -> str:
    return f"{own.group}/providers/Microsoft.Authorization/roleAssignments/{name or uuid.uuid4()}"


def test_an_identity_made_anew_is_somebody_else(own: Account) -> None:
    first = own.principal(own.identity)
    own.put(own.identity, {"location": "westeurope", "tags": {"a": "b"}})
    assert own.principal(own.identity) == first
    own.delete(own.identity)
    own.put(own.identity, {"location": "westeurope"})
    assert own.principal(own.identity) != first


def test_a_role_is_given_once_under_one_name(own: Account) -> None:
    id_ = own.grant(own.identity, IDENTITY_OPERATOR, own.group)
    body = own.grant_body(own.identity, IDENTITY_OPERATOR)
    assert own.ask("PUT", id_, body).status == 200
    told = own.refused("PUT", assignment(own), body)
    assert (told.status, told.code) == (409, "RoleAssignmentExists")
    other = own.refused("PUT", id_, own.grant_body(own.identity, NETWORK_CONTRIBUTOR))
    assert other.code == "RoleAssignmentUpdateNotPermitted"
    own.delete(id_)
    assert own.ask("DELETE", id_).status == 204


@pytest.mark.parametrize(
    ("name", "changes", "code"),
    [
        ("network", {}, "InvalidResourceName"),
        ("", {"principalId": "me"}, "InvalidPrincipalId"),
        ("", {"principalType": "Robot"}, "InvalidPrincipalType"),
        ("", {"roleDefinitionId": "Network Contributor"}, "RoleDefinitionDoesNotExist"),
        ("", {"role": "x"}, "InvalidRequestContent"),
    ],
)
def test_an_assignment_that_cannot_be_is_refused(own: Account, name: str, changes: dict[str, Any], code: str) -> None:
    body = own.grant_body(own.identity, NETWORK_CONTRIBUTOR)
    body["properties"].update(changes)
    assert own.refused("PUT", assignment(own, name), body).code == code


def test_somebody_of_the_directory_is_taken_to_be_there(own: Account) -> None:
    body = own.grant_body(own.identity, NETWORK_CONTRIBUTOR)
    body["properties"].update(principalId=str(uuid.uuid4()), principalType="Group")
    told = own.put(assignment(own), body)
    assert told.body["properties"]["scope"] == own.group


def test_a_role_on_nothing_is_refused(own: Account) -> None:
    gone = f"{own.subnet}-gone/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
    told = own.refused("PUT", gone, own.grant_body(own.identity, NETWORK_CONTRIBUTOR))
    assert (told.status, told.code) == (404, "ResourceNotFound")


def test_an_identity_is_known_some_calls_later_unless_it_is_said_to_be_one(own: Account) -> None:
    identity = own.new_identity()
    body = own.grant_body(identity, NETWORK_CONTRIBUTOR)
    body["properties"].pop("principalType")
    own.az.set_faults(NotYetVisibleRule(operation=WRITE, calls=3))
    id_ = assignment(own)
    assert own.refused("PUT", id_, body).code == "PrincipalNotFound"
    assert own.put(id_, own.grant_body(identity, NETWORK_CONTRIBUTOR)).status == 201


def credential(own: Account, name: str) -> str:
    return f"{own.identity}/federatedIdentityCredentials/{name}"


def trust(subject: str = "system:serviceaccount:vision:igz-jobs", **changes: Any) -> dict[str, Any]:
    given = {"issuer": "https://issuer.invalid/", "subject": subject, "audiences": ["api://AzureADTokenExchange"]}
    return {"properties": {**given, **changes}}


def test_an_identity_trusts_an_account_once_and_up_to_twenty(own: Account) -> None:
    own.put(credential(own, "first"), trust())
    assert own.put(credential(own, "first"), trust()).status == 200
    assert own.refused("PUT", credential(own, "again"), trust()).status == 400
    assert own.refused("PUT", credential(own, "more"), trust("other", audiences=["a", "b"])).status == 400
    for number in range(19):
        own.put(credential(own, f"more-{number}"), trust(f"system:serviceaccount:vision:{number}"))
    assert "maximum of 20" in own.refused("PUT", credential(own, "last"), trust("last")).message
    own.delete(own.identity)
    assert own.ask("GET", credential(own, "first")).status == 404


def test_credentials_of_one_identity_are_written_one_after_another(own: Account) -> None:
    own.az.set_scale(1)
    own.put(credential(own, "first"), trust())
    told = own.refused("PUT", credential(own, "second"), trust("other"))
    assert (told.status, told.code) == (409, "ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity")
    own.az.set_scale(0)
