"""What all types of ``Microsoft.Network`` have in common."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.kind import Kind
from emulators.azure.server.refusals import not_referable
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource
from emulators.core.refusal import Refusal

PACKAGE: Final = "azure.mgmt.network"

NETWORK: Final = "Microsoft.Network/virtualNetworks"
SUBNET: Final = f"{NETWORK}/subnets"
PEERING: Final = f"{NETWORK}/virtualNetworkPeerings"

ZONES: Final = ("1", "2", "3")
"""Zones of every region here."""


class NetworkKind(Kind):
    """A type of ``Microsoft.Network``."""

    version = "2024-05-01"
    takes_time = True
    refers: ClassVar[tuple[str, ...]] = ()
    """Properties that name others by ``id``; one, or several in a list."""
    in_use: ClassVar[str] = ""
    """Code of the refusal to remove what is in use."""
    has_zones: ClassVar[bool] = False
    """Whether it is in the zones that it is made in."""

    @override
    def read(self, request: Request) -> dict[str, Any]:
        body = super().read(request)
        if self.has_zones and (zones := _zones(body)):
            body["zones"] = zones
        return body

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        if self.has_zones and old and _zones(body) != _zones(old.body):
            raise _other_zones(request.id.text, _zones(old.body), _zones(body))
        super().check(request, body, old)
        for name in self.refers:
            for id_ in referred(body["properties"].get(name)):
                if self.store.find(id_) is None:
                    raise not_referable(id_, request.id.text)

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        users = self.store.users(resource.id, going)
        if self.in_use and users:
            noun = self.arm_type.rpartition("/")[2].removesuffix("s").replace("Addresse", "Address")
            told = f"{noun} {resource.id.text} is in use by {', '.join(each.id.text for each in users)}"
            raise Refusal(self.in_use, 400, f"{told} and cannot be deleted.")

    def used_by(self, resource: Resource, type_: str) -> list[dict[str, str]]:
        """Return who of a type names a resource, as answers tell it."""
        return [{"id": each.id.text} for each in self.store.users(resource.id) if each.type == type_]


def referred(value: Any) -> Iterator[str]:
    """Return the ids that a property names."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict) and "id" in each:
            yield each["id"]


def _zones(body: Mapping[str, Any]) -> list[str]:
    """Return the zones that Azure makes something in: all of the region's, if more than one is asked for.

    Source: https://github.com/Azure/terraform-azurerm-caf-enterprise-scale/issues/447 shows it of a new address. That a
    later request with two zones is read in the same way is assumed.
    """
    given = sorted(body.get("zones") or [])
    return list(ZONES) if len(given) > 1 else given


def _other_zones(id_: str, before: list[str], after: list[str]) -> Refusal:
    """Return the refusal of other zones, or none: https://github.com/Azure/AzOps/issues/701."""
    has, asked = (", ".join(zones) or "NoZone" for zones in (before, after))
    told = (
        f"has an existing availability zone constraint {has} and the request has availability zone constraint {asked}"
    )
    why = "Zones cannot be added/updated/removed once the resource is created."
    message = f"Resource {id_} {told}, which do not match. {why}"
    never = "The resource cannot be updated from regional to zonal or vice-versa."
    return Refusal("ResourceAvailabilityZonesCannotBeModified", 400, f"{message} {never}")
