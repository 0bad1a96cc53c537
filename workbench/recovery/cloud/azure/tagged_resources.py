"""What still belongs to a stack in Azure, whether the state knows of it or not."""

from collections.abc import Iterator
from typing import Any, Final

from workbench.engine.clouds.aks.conditions import CLUSTER, POOL
from workbench.offline.azure.facts import resource
from workbench.recovery.cloud.azure.ids import pulumi_types
from workbench.recovery.cloud.azure.queries import AzureQueries
from workbench.recovery.cloud.azure.searches import found, holds_data
from workbench.recovery.cloud.cloud_resource import CloudResource

GROUP: Final = "azure-native:resources:ResourceGroup"
WORKSPACE: Final = "azure-native:operationalinsights:Workspace"

RESOURCES: Final = "2021-04-01"
"""Version of the API that lists what a resource group holds, of all types.

https://learn.microsoft.com/rest/api/resources/resources/list-by-resource-group
"""

WITH_DATA: Final = frozenset(
    {"microsoft.compute/disks", "microsoft.compute/snapshots", "microsoft.storage/storageaccounts"}
)
"""What cannot be had back, of what AKS and its drivers make; by Azure's type in lower case."""


def tagged_resources(queries: AzureQueries) -> list[CloudResource]:
    """Return the stack's resource group, what in it carries the stack's tags, its pools, and what AKS made for it.

    What lies elsewhere (roles on keys and networks that somebody else owns) is no thing of its own.

    Raises
    ------
    UserError
        Azure cannot be asked.
    """
    things = [*_group(queries), *_in_group(queries), *_pools(queries), *_by_aks(queries)]
    return sorted(things, key=lambda thing: (thing.type, thing.id))


def _group(queries: AzureQueries) -> Iterator[CloudResource]:
    choices = queries.choices
    told = queries.look_up(GROUP, choices.group_id)
    if queries.is_ours(told.get("tags") or {}):
        is_ = f"--name {choices.resource_group} --subscription {choices.subscription_id}"
        yield CloudResource(GROUP, choices.group_id, "", _state(told), f"az group show {is_}", f"az group delete {is_}")


def _in_group(queries: AzureQueries) -> Iterator[CloudResource]:
    for each in queries.listed(f"{queries.choices.group_id}/resources", RESOURCES):
        if queries.is_ours(each.get("tags") or {}):
            type_ = pulumi_types().get(each["type"].lower(), each["type"])
            yield _thing(type_, each, with_data=type_ in (CLUSTER, WORKSPACE))


def _pools(queries: AzureQueries) -> Iterator[CloudResource]:
    """Yield the pools that are resources of their own; the one that the cluster was made with goes with it."""
    for each in queries.listed(f"{queries.choices.cluster_id}/agentPools", resource(POOL).api_version):
        properties = each.get("properties") or {}
        if properties.get("mode") != "System" and queries.is_ours(found(POOL, each["id"], each).tags or {}):
            yield _thing(POOL, each, with_data=holds_data(POOL, properties))


def _by_aks(queries: AzureQueries) -> Iterator[CloudResource]:
    """Yield what AKS put into the node resource group: scale sets, load balancers, disks of claims."""
    choices = queries.choices
    place = f"/subscriptions/{choices.subscription_id}/resourceGroups/{choices.node_resource_group}"
    for each in queries.listed(f"{place}/resources", RESOURCES):
        yield _thing(each["type"], each, with_data=each["type"].lower() in WITH_DATA, is_byproduct=True)


def _thing(type_: str, told: dict[str, Any], *, with_data: bool, is_byproduct: bool = False) -> CloudResource:
    id_ = told["id"]
    commands = (f"az resource show --ids {id_}", f"az resource delete --ids {id_}")
    return CloudResource(type_, id_, "", _state(told), *commands, holds_data=with_data, is_byproduct=is_byproduct)


def _state(told: dict[str, Any]) -> str:
    return str((told.get("properties") or {}).get("provisioningState") or told.get("provisioningState") or "")
