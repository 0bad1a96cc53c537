"""Lists all Azure resources of a stack, including those missing from the state, and foreign ones in its group."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from shlex import quote
from typing import Any, Final

from components.contract.aks.backup import group_name, snapshots_name
from components.contract.azure import BACKUPS, AzureTag
from workbench.engine.clouds.aks.conditions import CLUSTER, POOL
from workbench.engine.clouds.blocker import Blocker
from workbench.offline.azure.facts import resource
from workbench.recovery.cloud.azure.ids import pulumi_types
from workbench.recovery.cloud.azure.queries import AzureQueries
from workbench.recovery.cloud.azure.searches import ACCOUNT, VAULT, holds_data, result_of
from workbench.recovery.cloud.cloud_resource import CloudResource

GROUP: Final = "azure-native:resources:ResourceGroup"
WORKSPACE: Final = "azure-native:operationalinsights:Workspace"

RESOURCES: Final = "2021-04-01"
"""API version for listing all resources in a resource group.

https://learn.microsoft.com/rest/api/resources/resources/list-by-resource-group
"""

WITH_DATA: Final = frozenset(
    {"microsoft.compute/disks", "microsoft.compute/snapshots", "microsoft.storage/storageaccounts"}
)
"""Types, in lower case, of resources created by AKS and its drivers whose deletion loses data."""


_GROUP_OF_BACKUPS: Final = "delete it after the backup instances in the vault (docs/backup.md)"
_VAULT_OF_BACKUPS: Final = "can be deleted 14 days after its backup instances (docs/backup.md)"
_OBJECTS_OF_BACKUPS: Final = "holds the objects of the backups"


def tagged_resources(queries: AzureQueries) -> list[CloudResource]:
    """Return the stack's resource groups, tagged resources in them, its pools, and what AKS created for it.

    Role assignments on keys and networks of other owners are not listed.

    Raises
    ------
    UserError
        Azure cannot be queried.
    """
    choices = queries.choices
    groups = [(choices.resource_group, choices.group_id)]
    groups += [(name(choices.resource_group), name(choices.group_id)) for name in (group_name, snapshots_name)]
    resources = [each for name, id_ in groups for each in (*_group(queries, name, id_), *_in_group(queries, id_))]
    resources += [*_pools(queries), *_by_aks(queries)]
    return sorted(resources, key=lambda resource: (resource.type, resource.id))


def foreign_resources(queries: AzureQueries, recorded: Collection[str]) -> list[Blocker]:
    """Return what is in the stack's resource group, but neither recorded nor tagged as the stack's.

    Azure deletes a resource group with everything in it:
    https://learn.microsoft.com/azure/azure-resource-manager/management/delete-resource-group.

    Parameters
    ----------
    recorded
        Ids of the resources in the stack's state. Empty result if they do not include the group.

    Raises
    ------
    UserError
        Azure cannot be queried.
    """
    choices, ours = queries.choices, {id_.lower() for id_ in recorded}
    if choices.group_id.lower() not in ours:
        return []
    return [
        Blocker(
            each["id"],
            f"is in the resource group {choices.resource_group}, and this stack did not create it",
            "Azure deletes a resource group with everything in it",
            f"Move it (`az resource move --destination-group GROUP --ids {quote(each['id'])}`) or delete it "
            f"(`az resource delete --ids {quote(each['id'])}`).",
        )
        for each in queries.listed(f"{choices.group_id}/resources", RESOURCES)
        if each["id"].lower() not in ours and not queries.is_ours(each.get("tags") or {})
    ]


def _group(queries: AzureQueries, name: str, id_: str) -> Iterator[CloudResource]:
    response = queries.look_up(GROUP, id_)
    tags = response.get("tags") or {}
    if queries.is_ours(tags):
        is_ = f"--name {name} --subscription {queries.choices.subscription_id}"
        show, delete = f"az group show {is_}", f"az group delete {is_}"
        yield CloudResource(GROUP, id_, "", _state(response), show, delete, kept=_kept(tags, _GROUP_OF_BACKUPS))


def _in_group(queries: AzureQueries, group: str) -> Iterator[CloudResource]:
    for each in queries.listed(f"{group}/resources", RESOURCES):
        tags = each.get("tags") or {}
        if queries.is_ours(tags):
            type_ = pulumi_types().get(each["type"].lower(), each["type"])
            made = _resource(type_, each, with_data=type_ in (ACCOUNT, CLUSTER, VAULT, WORKSPACE))
            yield replace(made, kept=_kept(tags, _VAULT_OF_BACKUPS if type_ == VAULT else _OBJECTS_OF_BACKUPS))


def _kept(tags: Mapping[str, str], why: str) -> str:
    return why if tags.get(AzureTag.PURPOSE.value) == BACKUPS else ""


def _pools(queries: AzureQueries) -> Iterator[CloudResource]:
    """Yield the pools that are separate resources; the initial pool is deleted with the cluster."""
    for each in queries.listed(f"{queries.choices.cluster_id}/agentPools", resource(POOL).api_version):
        properties = each.get("properties") or {}
        if properties.get("mode") != "System" and queries.is_ours(result_of(POOL, each["id"], each).tags or {}):
            yield _resource(POOL, each, with_data=holds_data(POOL, properties))


def _by_aks(queries: AzureQueries) -> Iterator[CloudResource]:
    """Yield AKS's resources in the node resource group: scale sets, load balancers, disks of claims."""
    choices = queries.choices
    place = f"/subscriptions/{choices.subscription_id}/resourceGroups/{choices.node_resource_group}"
    for each in queries.listed(f"{place}/resources", RESOURCES):
        yield _resource(each["type"], each, with_data=each["type"].lower() in WITH_DATA, is_byproduct=True)


def _resource(type_: str, response: dict[str, Any], *, with_data: bool, is_byproduct: bool = False) -> CloudResource:
    id_ = response["id"]
    commands = (f"az resource show --ids {id_}", f"az resource delete --ids {id_}")
    return CloudResource(type_, id_, "", _state(response), *commands, holds_data=with_data, is_byproduct=is_byproduct)


def _state(response: dict[str, Any]) -> str:
    return str((response.get("properties") or {}).get("provisioningState") or response.get("provisioningState") or "")
