"""Finds an Azure resource by the id that its inputs determine, and a role assignment also by what it grants."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from workbench.engine.clouds.aks.conditions import CLUSTER, POOL, is_moving
from workbench.offline.azure.facts import resource
from workbench.offline.azure.shapes import outputs
from workbench.recovery.cloud.azure.ids import id_of
from workbench.recovery.cloud.azure.queries import AzureQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

UNTAGGED: Final = frozenset(
    {
        "azure-native:authorization:RoleAssignment",
        "azure-native:authorization:RoleDefinition",
        "azure-native:containerservice:MaintenanceConfiguration",
        "azure-native:containerservice:TrustedAccessRoleBinding",
        "azure-native:dataprotection:BackupInstance",
        "azure-native:dataprotection:BackupPolicy",
        "azure-native:kubernetesconfiguration:Extension",
        "azure-native:managedidentity:FederatedIdentityCredential",
        "azure-native:monitor:DataCollectionRuleAssociation",
        "azure-native:monitor:DiagnosticSetting",
        "azure-native:network:Subnet",
        "azure-native:storage:BlobContainer",
        "azure-native:storage:FileServiceProperties",
        "azure-native:storage:FileShare",
    }
)
"""Types without tags: they are inside our resources, or named after them."""

ACCOUNT: Final = "azure-native:storage:StorageAccount"
ASSIGNMENT: Final = "azure-native:authorization:RoleAssignment"
SHARE: Final = "azure-native:storage:FileShare"
VAULT: Final = "azure-native:dataprotection:BackupVault"


def search(queries: AzureQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the queried resource, if it exists.

    A singleton, which Azure creates together with its parent, exists whether or not a killed run set it. It counts as
    missing, so that the next run sets it.

    Raises
    ------
    UserError
        Azure cannot be queried.
    """
    if resource(query.type).singleton:
        return []
    id_ = id_of(query.type, query.inputs, queries.choices)
    response = queries.look_up(query.type, id_) if id_ else {}
    if query.type == ASSIGNMENT:
        return list(_assignments(queries, query, response))
    return [result_of(query.type, id_, response)] if id_ and response else []


def _assignments(queries: AzureQueries, query: LookupQuery, named: dict[str, Any]) -> Iterator[LookupResult]:
    """Yield the assignment of a role to a principal on a scope; Azure allows one, whatever its name.

    Names of releases before 0.3 did not contain the cluster. So an assignment with the name that an interrupted run
    recorded may belong to another cluster; and if the run recorded nothing, a preview now generates another name than
    the assignment has.

    Azure/azure-rest-api-specs, Microsoft.Authorization 2022-04-01: ``RoleAssignments_ListForScope`` lists what applies
    to a scope.
    """
    wanted, found = query.inputs, [named] if named else []
    if query.is_planned and not named and wanted.get("scope") and wanted.get("principalId"):
        place = f"{wanted['scope']}/providers/Microsoft.Authorization/roleAssignments"
        found = queries.listed(place, resource(ASSIGNMENT).api_version)
    for each in found:
        live = each["properties"]
        if _grant({**live, **wanted}) == _grant(live):  # a principal that is unknown in a preview matches any
            yield replace(result_of(ASSIGNMENT, each["id"], each), inputs={"roleAssignmentName": each["name"]})


def _grant(given: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return principal, role and scope of an assignment; letter case does not count in any of them."""
    role = given["roleDefinitionId"].rpartition("/")[2]
    return given["principalId"].lower(), role.lower(), given["scope"].lower()


def result_of(type_: str, id_: str, response: dict[str, Any]) -> LookupResult:
    """Return the lookup result for one of Azure's responses."""
    properties = response.get("properties") or {}
    state = str(properties.get("provisioningState") or "")
    return LookupResult(
        str(response.get("id") or id_),  # in the letter case that the provider also gets
        state,
        is_moving(state),
        None if type_ in UNTAGGED else (response.get("tags") or properties.get("tags") or {}),
        holds_data=holds_data(type_, properties),
        # A refresh would report Azure's defaults as changes if the state lacked them.
        known_outputs=outputs(type_, response),
    )


def holds_data(type_: str, properties: dict[str, Any]) -> bool:
    """Return whether deleting the resource loses data."""
    if type_ in (CLUSTER, ACCOUNT, SHARE, VAULT):
        # Azure deletes all pools and the disks of all claims with a cluster, all shares and containers with an account.
        return True
    return type_ == POOL and (properties.get("nodeLabels") or {}).get(LabelKey.ROLE.value) == PoolRole.DATA.value
