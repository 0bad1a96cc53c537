"""Who may do what: identities and the roles that they are given."""

import re
import uuid
from collections.abc import Container, Iterator
from fnmatch import fnmatch
from typing import Any, ClassVar, Final, Literal

from pydantic import Field
from typing_extensions import override

from emulators.azure.server import TENANT
from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.kind import Form, Kind, Tracked
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource, Store
from emulators.core.refusal import Refusal

IDENTITY: Final = "Microsoft.ManagedIdentity/userAssignedIdentities"
ASSIGNMENT: Final = "Microsoft.Authorization/roleAssignments"
ROLE: Final = "Microsoft.Authorization/roleDefinitions"

NETWORK_CONTRIBUTOR: Final = "4d97b98b-1d4f-4787-a291-c67834d212e7"
PRIVATE_DNS: Final = "b12aa53e-6015-4669-85d0-8515ebb3ae7f"
IDENTITY_OPERATOR: Final = "f1a07417-d97a-45cb-824c-7a7467783830"
GENERAL: Final = frozenset({"8e3af657-a8ff-443c-a75c-2fe8c4bcb635", "b24988ac-6180-42a0-ab88-20f7382dd24c"})
"""Owner and Contributor. All of them: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles."""

CREDENTIALS_MAX: Final = 20
"""Maximum number of credentials of an identity."""

_GUID: Final = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_ROLE: Final = re.compile(
    rf"(/subscriptions/[^/]+)?/providers/Microsoft\.Authorization/roleDefinitions/({_GUID})", re.IGNORECASE
)


class _Empty(Form):
    pass


class _Identity(Tracked):
    properties: _Empty = _Empty()


class Identities(Kind):
    """``Microsoft.ManagedIdentity/userAssignedIdentities``; each one made is a principal of its own."""

    arm_type = IDENTITY
    token = "azure-native:managedidentity:UserAssignedIdentity"  # noqa: S105 a type
    version = "2023-01-31"
    form = _Identity
    names = r"[A-Za-z0-9][-\w]{2,127}"
    is_tracked = True

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        new = {"tenantId": TENANT, "principalId": str(uuid.uuid4()), "clientId": str(uuid.uuid4())}
        return {**body, "properties": dict(old.properties) if old else new}

    @override
    def written(self, resource: Resource, *, is_new: bool) -> None:
        if is_new:
            self.store.spread(resource, "replication")


class _Trust(Form):
    issuer: str
    subject: str
    audiences: list[str]


class _Credential(Form):
    properties: _Trust


class Credentials(Kind):
    """``Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials``: tokens that are trusted.

    Limits and refusals: MicrosoftDocs/entra-docs, ``workload-identity-federation-considerations.md`` (2024).
    """

    arm_type = f"{IDENTITY}/federatedIdentityCredentials"
    token = "azure-native:managedidentity:FederatedIdentityCredential"  # noqa: S105 a type
    version = "2023-01-31"
    form = _Credential
    names = r"[a-zA-Z0-9][-\w]{2,119}"

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        given, siblings = body["properties"], [each for each in self._siblings(request.id) if each is not old]
        if len(given["audiences"]) != 1:
            raise Refusal("BadRequest", 400, "Only one audience is allowed per federated identity credential.")
        if len(siblings) >= CREDENTIALS_MAX:
            told = f"Too many federated identity credentials. A maximum of {CREDENTIALS_MAX} can be configured."
            raise Refusal("BadRequest", 400, told)
        if any(each.id.key in self.store.unseen for each in siblings):
            told = "Too many Requests: concurrent writes of federated identity credentials under one managed identity."
            raise Refusal("ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity", 409, told)
        trust = given["issuer"], given["subject"]
        for other in siblings:
            if (other.properties["issuer"], other.properties["subject"]) == trust:
                told = "Issuer and subject combination already exists for this Managed Identity."
                raise Refusal("BadRequest", 400, told)

    @override
    def written(self, resource: Resource, *, is_new: bool) -> None:
        self.store.spread(resource, "write")

    def _siblings(self, id_: ArmId) -> list[Resource]:
        parent = id_.parent
        return list(self.store.below(parent, self.arm_type)) if parent else []


class _Permission(Form):
    actions: list[str] = Field(default_factory=list)
    notActions: list[str] = Field(default_factory=list)  # noqa: N815 as it is on the wire, and all of these
    dataActions: list[str] = Field(default_factory=list)  # noqa: N815
    notDataActions: list[str] = Field(default_factory=list)  # noqa: N815


class _Role(Form):
    roleName: str = Field(min_length=1)  # noqa: N815
    type: Literal["CustomRole"] = "CustomRole"
    description: str = ""
    permissions: list[_Permission] = Field(min_length=1)
    assignableScopes: list[str] = Field(min_length=1)  # noqa: N815


class _RoleDefinition(Form):
    properties: _Role


class Roles(Kind):
    """``Microsoft.Authorization/roleDefinitions``, those of an owner.

    Wherever one is made, Azure says that it is in the subscription: hashicorp/terraform-provider-azurerm,
    ``internal/services/authorization/role_definition_resource.go`` (2023).
    """

    arm_type = ROLE
    token = "azure-native:authorization:RoleDefinition"  # noqa: S105 a type
    version = "2022-05-01-preview"
    form = _RoleDefinition
    is_extension = True
    names = _GUID

    @override
    def id_of(self, asked: ArmId) -> ArmId:
        return ArmId(f"/subscriptions/{asked.subscription}/providers/{ROLE}/{asked.name}")

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        name = body["properties"]["roleName"]
        for other in self.store.all(ROLE):
            if other is not old and other.properties["roleName"] == name:
                told = f"A custom role with the same name already exists in this directory: {name}."
                raise Refusal("RoleDefinitionWithSameNameExists", 409, told)

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        given = body["properties"]
        permissions = [_Permission.model_validate(each).model_dump() for each in given["permissions"]]
        return {"properties": {"type": "CustomRole", "description": "", **given, "permissions": permissions}}

    @override
    def written(self, resource: Resource, *, is_new: bool) -> None:
        if is_new:
            self.store.spread(resource, "propagation")

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        if any(_grants(each, resource) for each in self.store.all(ASSIGNMENT)):
            told = "There are existing role assignments referencing role."
            raise Refusal("RoleDefinitionHasAssignments", 400, f"{told} (code: RoleDefinitionHasAssignments)")


class _Grant(Form):
    principalId: str  # noqa: N815 as it is on the wire, and all of these
    roleDefinitionId: str  # noqa: N815
    principalType: str = "User"  # noqa: N815
    description: str = ""
    condition: str = ""
    conditionVersion: str = ""  # noqa: N815
    delegatedManagedIdentityResourceId: str = ""  # noqa: N815


class _Assignment(Form):
    properties: _Grant


class Assignments(Kind):
    """``Microsoft.Authorization/roleAssignments``. Principals of other accounts are taken to exist."""

    arm_type = ASSIGNMENT
    token = "azure-native:authorization:RoleAssignment"  # noqa: S105 a type
    version = "2022-04-01"
    form = _Assignment
    is_extension = True
    names = _GUID
    types: ClassVar = ("Device", "ForeignGroup", "Group", "ServicePrincipal", "User")

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        given = body["properties"]
        if not re.fullmatch(_GUID, given["principalId"]):
            raise Refusal("InvalidPrincipalId", 400, f"The Principal ID '{given['principalId']}' is not valid.")
        if not _ROLE.fullmatch(given["roleDefinitionId"]):
            told = f"The specified role definition with ID '{given['roleDefinitionId']}' does not exist."
            raise Refusal("RoleDefinitionDoesNotExist", 404, told)
        if given.get("principalType", "User") not in self.types:
            raise Refusal("InvalidPrincipalType", 400, f"principalType must be one of {', '.join(self.types)}.")
        own = self.store.find(given["roleDefinitionId"])
        if own and own.id.key in self.store.unseen:
            told = f"The specified role definition with ID '{own.id.name}' does not exist."
            raise Refusal("RoleDefinitionDoesNotExist", 404, told)
        refuse_unreplicated(self.store, body, self.store.unseen)
        wanted = _grant(request.id.scope, given)
        if old and _grant(old.id.scope, old.properties) != wanted:
            told = "Tenant ID, application ID, principal ID, and scope are not allowed to be updated."
            raise Refusal("RoleAssignmentUpdateNotPermitted", 400, told)
        for other in self.store.all(self.arm_type):
            if other is not old and _grant(other.id.scope, other.properties) == wanted:
                told = f"The ID of the existing role assignment is {other.id.name.replace('-', '')}."
                raise Refusal("RoleAssignmentExists", 409, f"The role assignment already exists. {told}")

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        return {"properties": {"principalType": "User", **body["properties"], "scope": id_.scope}}

    @override
    def written(self, resource: Resource, *, is_new: bool) -> None:
        if is_new:
            self.store.spread(resource, "propagation")


def refuse_unreplicated(store: Store, body: dict[str, Any], new: Container[str]) -> None:
    """Refuse a role for an identity that is too new, unless it is said to be one.

    Parameters
    ----------
    new
        Ids of identities in lower case.
    """
    given = body.get("properties", {})
    for identity in store.all(IDENTITY):
        is_new = identity.id.key in new and identity.properties["principalId"] == given.get("principalId")
        if is_new and given.get("principalType") != "ServicePrincipal":
            advice = "This might be related to a replication delay: set principalType to ServicePrincipal."
            told = f"Principal {given['principalId']} does not exist in the directory {TENANT}. {advice}"
            raise Refusal("PrincipalNotFound", 400, told)


def may(store: Store, principal: str, role: str, what: ArmId, unseen: Container[str] = ()) -> bool:
    """Return whether a principal has a role, or one that holds all others, on something.

    Parameters
    ----------
    unseen
        Ids of role assignments in lower case that do not hold yet.
    """
    for each in assigned(store, principal, {role, *GENERAL}, unseen):
        scope = ArmId(each.id.scope)
        if what.key == scope.key or what.is_in(scope):
            return True
    return False


def allows(store: Store, principal: str, operation: str, what: ArmId) -> bool:
    """Return whether an owner's own role allows a principal an operation on something."""
    for role in store.all(ROLE):
        actions = [action for permission in role.properties["permissions"] for action in permission["actions"]]
        if not any(fnmatch(operation.lower(), action.lower()) for action in actions):
            continue
        for each in store.all(ASSIGNMENT):
            scope, is_seen = ArmId(each.id.scope), each.id.key not in store.unseen
            is_theirs = each.properties["principalId"].lower() == principal.lower()
            if is_seen and is_theirs and _grants(each, role) and (what.key == scope.key or what.is_in(scope)):
                return True
    return False


def assigned(store: Store, principal: str, roles: Container[str], unseen: Container[str] = ()) -> Iterator[Resource]:
    """Return the assignments of one of these roles to a principal that hold by now; ``unseen`` as of ``may``."""
    for each in store.all(ASSIGNMENT):
        found = _ROLE.fullmatch(each.properties["roleDefinitionId"])
        is_role = found is not None and found[2].lower() in roles
        is_theirs = each.properties["principalId"].lower() == principal.lower()
        if is_role and is_theirs and each.id.key not in unseen and each.id.key not in store.unseen:
            yield each


def _grants(assignment: Resource, role: Resource) -> bool:
    return str(assignment.properties["roleDefinitionId"]).rpartition("/")[2].lower() == role.id.name.lower()


def _grant(scope: str, given: dict[str, Any]) -> tuple[str, str, str]:
    role = given["roleDefinitionId"].rpartition("/")[2]
    return scope.lower(), str(given["principalId"]).lower(), role.lower()
