"""Proximity placement groups: what names one is in one data center."""

from typing import Any, ClassVar, Literal

from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.kind import Form, Kind, Tracked
from emulators.azure.server.refusals import bad_request
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource
from emulators.core.refusal import Refusal


class _Intent(Form):
    vmSizes: list[str] | None = None  # noqa: N815 as it is on the wire, and all of these


class _Properties(Form):
    proximityPlacementGroupType: Literal["Standard", "Ultra"] = "Standard"  # noqa: N815
    intent: _Intent | None = None


class _Group(Tracked):
    properties: _Properties = _Properties()
    zones: list[str] | None = None


class PlacementGroups(Kind):
    """``Microsoft.Compute/proximityPlacementGroups``."""

    arm_type = "Microsoft.Compute/proximityPlacementGroups"
    token = "azure-native:compute:ProximityPlacementGroup"  # noqa: S105 a type
    version = "2024-11-01"
    form = _Group
    is_tracked = True
    defaults: ClassVar = {"proximityPlacementGroupType": "Standard"}

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        if body.get("zones") and not (body["properties"].get("intent") or {}).get("vmSizes"):
            raise bad_request("A proximity placement group with a zone needs an intent that names sizes.")

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        if users := self.store.users(resource.id, going):
            told = f"Proximity placement group {resource.id.name} is in use by {users[0].id.text}."
            raise Refusal("OperationNotAllowed", 409, told)
