"""Networks: what refers to what, and what is in use."""

from collections.abc import Mapping
from ipaddress import ip_network
from itertools import combinations
from typing import Any, ClassVar, Final

from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.network_kind import NETWORK, PACKAGE, PEERING, SUBNET, NetworkKind
from emulators.azure.server.requests import Request
from emulators.azure.server.store import SUCCEEDED, Resource, Store
from emulators.core.refusal import Refusal

ADMITTING: Final = "Microsoft.Storage/storageAccounts"
"""What names a subnet to let it in, and has no address there; that it does not hold the subnet is assumed."""

INTERFACE: Final = "Microsoft.Network/networkInterfaces"
"""Network interfaces: none is made by itself here."""


class SecurityGroups(NetworkKind):
    """``Microsoft.Network/networkSecurityGroups``."""

    arm_type = "Microsoft.Network/networkSecurityGroups"
    token = "azure-native:network:NetworkSecurityGroup"  # noqa: S105 a type
    form = (PACKAGE, "NetworkSecurityGroup")
    is_tracked = True
    in_use = "InUseNetworkSecurityGroupCannotBeDeleted"
    defaults: ClassVar = {"securityRules": []}

    @override
    def shown(self, resource: Resource) -> dict[str, Any]:
        shown = super().shown(resource)
        shown["properties"]["subnets"] = self.used_by(resource, SUBNET)
        return shown


class _WithSubnets(NetworkKind):
    """A type of which one change at a time is made in a network."""

    def refuse_beside(self, network: ArmId) -> None:
        """Refuse a change while another one goes on in the same network."""
        found = self.store.find(network)
        parts = [*([found] if found else []), *self.store.below(network)]
        if any(each.is_busy for each in parts):
            told = "Another operation on this or dependent resource is in progress."
            raise Refusal("AnotherOperationInProgress", 409, told)


class VirtualNetworks(_WithSubnets):
    """``Microsoft.Network/virtualNetworks``.

    A write may leave subnets out, and they stay, since version 2023-09-01 of the API; or it names all that are there,
    as azure-native does. To make or remove one so is more than the emulator knows.
    """

    arm_type = NETWORK
    token = "azure-native:network:VirtualNetwork"  # noqa: S105 a type
    form = (PACKAGE, "VirtualNetwork")
    is_tracked = True

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        self.refuse_beside(request.id)
        spaces = body["properties"].get("addressSpace", {}).get("addressPrefixes", [])
        for space in spaces:
            _range(space)
        if not spaces:
            told = f"Virtual network {request.id.name} needs addressSpace.addressPrefixes."
            raise Refusal("InvalidRequestFormat", 400, told)
        named = body["properties"].get("subnets")
        there = {subnet.id.name.lower() for subnet in self.store.below(request.id, SUBNET)}
        if named is not None and {str(each.get("name")).lower() for each in named} != there:
            told = f"takes subnets as resources of their own; in {request.id.name} there are {sorted(there)}."
            raise Refusal("NotImplemented", 501, f"The Azure emulator {told}")

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        kept = super().completed(body, id_, old)
        kept["properties"].pop("subnets", None)
        return kept

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        if going is None:
            self.refuse_beside(resource.id)
        for subnet in self.store.below(resource.id, SUBNET):
            refuse_used(occupants(self.store, subnet, going), subnet)

    @override
    def shown(self, resource: Resource) -> dict[str, Any]:
        shown = super().shown(resource)
        shown["properties"]["subnets"] = [
            {"id": each.id.text, "name": each.id.name, "type": SUBNET, **each.body}
            for each in self.store.below(resource.id, SUBNET)
        ]
        return shown


class Subnets(_WithSubnets):
    """``Microsoft.Network/virtualNetworks/subnets``."""

    arm_type = SUBNET
    token = "azure-native:network:Subnet"  # noqa: S105 a type
    form = (PACKAGE, "Subnet")
    refers = ("networkSecurityGroup", "natGateway", "routeTable")
    defaults: ClassVar = {
        "delegations": [],
        "privateEndpointNetworkPolicies": "Disabled",
        "privateLinkServiceNetworkPolicies": "Enabled",
    }

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        network = self.store.get(request.id.above.above)
        self.refuse_beside(network.id)
        prefixes = prefixes_of(body["properties"])
        if not prefixes:
            raise Refusal("InvalidRequestFormat", 400, f"Subnet {request.id.name} needs an addressPrefix.")
        spaces = [_range(each) for each in network.properties["addressSpace"]["addressPrefixes"]]
        for prefix in prefixes:
            if not any(_range(prefix).subnet_of(space) for space in spaces):
                told = f"Subnet '{request.id.name}' is not valid in virtual network '{network.id.name}'."
                raise Refusal("NetcfgInvalidSubnet", 400, told)
        for other in self.store.below(network.id, SUBNET):
            theirs = prefixes_of(other.properties)
            if other is not old and any(overlap(mine, their) for mine in prefixes for their in theirs):
                overlapping = "its IP address range overlaps with that of an existing subnet"
                told = f"Subnet '{request.id.name}' is not valid because {overlapping}"
                raise Refusal("NetcfgSubnetRangesOverlap", 400, f"{told} in virtual network '{network.id.name}'.")
        lost = [each for each in prefixes_of(old.properties) if each not in prefixes] if old else []
        if old and lost and occupants(self.store, old):
            told = f"IpPrefix {lost[0]} on Subnet {request.id.name} has active allocations and cannot be deleted."
            raise Refusal("InUsePrefixCannotBeDeleted", 400, told)

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        if going is None:
            self.refuse_beside(resource.id.above.above)
        refuse_used(occupants(self.store, resource, going), resource)


class Peerings(NetworkKind):
    """``Microsoft.Network/virtualNetworks/virtualNetworkPeerings``: of use once the other network has one back."""

    arm_type = PEERING
    token = "azure-native:network:VirtualNetworkPeering"  # noqa: S105 a type
    form = (PACKAGE, "VirtualNetworkPeering")
    refers = ("remoteVirtualNetwork",)


def are_peered(store: Store, one: ArmId, other: ArmId) -> bool:
    """Return whether each of two networks has a peering with the other that is ready."""
    ready = [each for each in store.all(PEERING) if each.state == SUCCEEDED]
    ways = {(each.id.above.above.key, each.properties["remoteVirtualNetwork"]["id"].lower()) for each in ready}
    return {(one.key, other.key), (other.key, one.key)} <= ways


def occupants(store: Store, subnet: Resource, going: ArmId | None = None) -> list[Resource]:
    """Return who has addresses in a subnet; ``going`` as of ``Store.users``."""
    return [each for each in store.users(subnet.id, going) if each.type != ADMITTING]


def refuse_used(users: list[Resource], subnet: Resource) -> None:
    """Refuse to remove a subnet in use."""
    if users:
        by = ", ".join(each.id.text for each in users)
        advice = "In order to delete the subnet, delete all the resources within the subnet. See aka.ms/deletesubnet."
        told = f"Subnet {subnet.id.name} is in use by {by} and cannot be deleted. {advice}"
        raise Refusal("InUseSubnetCannotBeDeleted", 400, told)


def interface(subnet: Resource, name: str) -> Resource:
    """Return a network interface in a subnet, made by Azure in a resource group other than the subnet's."""
    group = f"/subscriptions/{subnet.id.subscription}/resourceGroups/of-others"
    id_ = ArmId(f"{group}/providers/{INTERFACE}/{name}")
    place = {"name": "ipconfig", "properties": {"subnet": {"id": subnet.id.text}}}
    properties = {"provisioningState": SUCCEEDED, "ipConfigurations": [place]}
    return Resource(id_, INTERFACE, {"properties": properties}, is_made_by_azure=True)


def prefixes_of(properties: Mapping[str, Any]) -> list[str]:
    """Return the ranges of a subnet."""
    return properties.get("addressPrefixes") or [each for each in [properties.get("addressPrefix")] if each]


def overlap(one: str, other: str) -> bool:
    """Return whether two ranges have addresses in common."""
    return any(a.overlaps(b) for a, b in combinations((_range(one), _range(other)), 2))


def _range(cidr: str) -> Any:
    try:
        return ip_network(cidr)
    except ValueError:
        raise Refusal("InvalidAddressPrefixFormat", 400, f"Address prefix {cidr} is not formatted correctly.") from None
