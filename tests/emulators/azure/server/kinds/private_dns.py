"""Private zones of names, and which networks know the names in them."""

from typing import Any, ClassVar, Final

from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.kind import Form, Kind, Tracked
from emulators.azure.server.refusals import not_referable
from emulators.azure.server.requests import Request
from emulators.azure.server.store import SUCCEEDED, Resource, Store

ZONE: Final = "Microsoft.Network/privateDnsZones"
LINK: Final = f"{ZONE}/virtualNetworkLinks"
GLOBAL: Final = "global"


class _ZoneProperties(Form):
    pass


class _Zone(Tracked):
    properties: _ZoneProperties = _ZoneProperties()


class Zones(Kind):
    """``Microsoft.Network/privateDnsZones``."""

    arm_type = ZONE
    token = "azure-native:privatedns:PrivateZone"  # noqa: S105 a type
    version = "2024-06-01"
    form = _Zone
    is_tracked = True
    defaults: ClassVar = {"provisioningState": SUCCEEDED}


class _Network(Form):
    id: str


class _LinkProperties(Form):
    virtualNetwork: _Network  # noqa: N815 as it is on the wire
    registrationEnabled: bool = False  # noqa: N815


class _Link(Tracked):
    properties: _LinkProperties


class Links(Kind):
    """``Microsoft.Network/privateDnsZones/virtualNetworkLinks``."""

    arm_type = LINK
    token = "azure-native:privatedns:VirtualNetworkLink"  # noqa: S105 a type
    version = "2024-06-01"
    form = _Link
    is_tracked = True
    fixed = ("properties.virtualNetwork.id",)
    defaults: ClassVar = {"provisioningState": SUCCEEDED, "virtualNetworkLinkState": "Completed"}

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        network = body["properties"]["virtualNetwork"]["id"]
        if self.store.find(network) is None:
            raise not_referable(network, request.id.text)


def make_zone(store: Store, group: ArmId, name: str, network: str) -> None:
    """Let Azure make a zone in a group, and link it to one network."""
    zone = ArmId(f"{group.text}/providers/{ZONE}/{name}")
    store.add(Resource(zone, ZONE, {"location": GLOBAL, "properties": dict(Zones.defaults)}, is_made_by_azure=True))
    link(store, zone, network, "nodes")


def link(store: Store, zone: ArmId, network: str, name: str) -> None:
    """Let Azure link a zone to a network, unless it is linked already: a network has one link to a zone."""
    if ArmId(network).key in _linked(store, zone):
        return
    own = ArmId(f"{zone.text}/virtualNetworkLinks/{name}")
    properties = {**Links.defaults, "virtualNetwork": {"id": network}, "registrationEnabled": False}
    store.add(Resource(own, LINK, {"location": GLOBAL, "properties": properties}, is_made_by_azure=True))


def knows_names(store: Store, zones_of: ArmId, network: ArmId) -> bool:
    """Return whether a network knows the names in all zones of a group; without zones there are no names."""
    linked = [_linked(store, zone.id) for zone in store.below(zones_of, ZONE)]
    return bool(linked) and all(network.key in each for each in linked)


def knows_zone(store: Store, zone: ArmId, network: ArmId) -> bool:
    """Return whether a network knows the names in one zone."""
    return network.key in _linked(store, zone)


def _linked(store: Store, zone: ArmId) -> set[str]:
    return {ArmId(each.properties["virtualNetwork"]["id"]).key for each in store.below(zone, LINK)}
