"""Resource groups: all that is in one goes with it."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from typing_extensions import override

from emulators.azure.server.ids import CLUSTER, GROUP
from emulators.azure.server.kinds.kind import Kind, Tracked
from emulators.azure.server.requests import Request
from emulators.azure.server.store import SUCCEEDED, Resource, Store
from emulators.core.fault_outcome import HealthIssue
from emulators.core.refusal import Refusal


class _Group(Tracked):
    location: str
    managedBy: str = ""  # noqa: N815 as it is on the wire


class Groups(Kind):
    """``Microsoft.Resources/resourceGroups``."""

    arm_type = GROUP
    token = "azure-native:resources:ResourceGroup"  # noqa: S105 a type
    version = "2024-03-01"
    form = _Group
    names = r"[-\w.()]{0,89}[-\w()]"
    defaults: ClassVar = {"provisioningState": SUCCEEDED}

    def __init__(self, store: Store, others: Mapping[str, Kind]) -> None:
        super().__init__(store)
        self._others = others

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        if old and old.state == "Deleting":
            told = f"The resource group '{old.id.name}' is in deprovisioning state and cannot perform this operation."
            raise Refusal("ResourceGroupBeingDeleted", 409, told)
        if old and old.body["location"].lower() != body["location"].lower():
            told = f"The Resource group already exists in location '{old.body['location']}'."
            raise Refusal("InvalidResourceGroupLocation", 409, f"Invalid resource group location. {told}")

    @override
    def gone(self, resource: Resource) -> Iterable[HealthIssue]:
        """Remove everything in it that nothing outside needs; clusters go first, because they hold the rest."""
        for cluster in self.store.below(resource.id, CLUSTER):
            self._others[CLUSTER.lower()].gone(cluster)
        left = []
        for each in self.store.below(resource.id):
            try:
                if each.type.lower() in self._others:
                    self._others[each.type.lower()].check_delete(each, resource.id)
            except Refusal as refused:
                left.append(f"{each.type}/{each.id.name}: {refused.message}")
        if left:
            told = f"Deletion of resource group '{resource.id.name}' failed as resources could not be deleted"
            return [HealthIssue("ResourceGroupDeletionBlocked", f"{told}: {'; '.join(left)}")]
        return super().gone(resource)
