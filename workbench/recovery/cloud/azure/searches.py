"""How a resource of Azure is found again: under the one id that it can have."""

from typing import Any, Final

from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from workbench.engine.clouds.aks.conditions import CLUSTER, POOL, is_moving
from workbench.offline.azure.shapes import outputs
from workbench.recovery.cloud.azure.ids import id_of
from workbench.recovery.cloud.azure.queries import AzureQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

UNTAGGED: Final = frozenset(
    {
        "azure-native:authorization:RoleAssignment",
        "azure-native:containerservice:MaintenanceConfiguration",
        "azure-native:monitor:DataCollectionRuleAssociation",
        "azure-native:monitor:DiagnosticSetting",
        "azure-native:network:Subnet",
    }
)
"""They lie in something of ours, or have a name that is derived from our own."""


def search(queries: AzureQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the wanted resource, if it is there.

    Raises
    ------
    UserError
        Azure cannot be asked.
    """
    id_ = id_of(wanted.type, wanted.inputs, queries.choices)
    told = queries.look_up(wanted.type, id_) if id_ else {}
    return [found(wanted.type, id_, told)] if id_ and told else []


def found(type_: str, id_: str, told: dict[str, Any]) -> LookupResult:
    """Return what Azure told of one resource."""
    properties = told.get("properties") or {}
    state = str(properties.get("provisioningState") or "")
    return LookupResult(
        str(told.get("id") or id_),  # in the case in which the provider gets it too
        state,
        is_moving(state),
        None if type_ in UNTAGGED else (told.get("tags") or properties.get("tags") or {}),
        holds_data=holds_data(type_, properties),
        # A refresh takes for a change what Azure filled in and no answer had before.
        told=outputs(type_, told),
    )


def holds_data(type_: str, properties: dict[str, Any]) -> bool:
    """Return whether a deletion loses what cannot be had back."""
    if type_ == CLUSTER:
        # It takes all pools and the disks of all claims with it.
        return True
    return type_ == POOL and (properties.get("nodeLabels") or {}).get(LabelKey.ROLE.value) == PoolRole.DATA.value
