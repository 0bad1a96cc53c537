"""Public addresses and the gateways that use them: zones stay, names need a label."""

from ipaddress import ip_network
from typing import Any, ClassVar

from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.network_kind import PACKAGE, SUBNET, NetworkKind, referred
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource
from emulators.core.refusal import Refusal


class PublicAddresses(NetworkKind):
    """``Microsoft.Network/publicIPAddresses``."""

    arm_type = "Microsoft.Network/publicIPAddresses"
    token = "azure-native:network:PublicIPAddress"  # noqa: S105 a type
    form = (PACKAGE, "PublicIPAddress")
    is_tracked = True
    in_use = "PublicIPAddressCannotBeDeleted"
    has_zones = True
    fixed = ("sku.name", "properties.publicIPAddressVersion")
    defaults: ClassVar = {"publicIPAddressVersion": "IPv4", "idleTimeoutInMinutes": 4}

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        settings = body["properties"].get("dnsSettings")
        if settings is not None and not settings.get("domainNameLabel"):
            raise _unlabelled(request.id.name)
        is_static = body["properties"].get("publicIPAllocationMethod") == "Static"
        if body.get("sku", {}).get("name") in {"Standard", "StandardV2"} and not is_static:
            told = "Standard sku publicIp must have AllocationMethod set to Static."
            raise Refusal("PublicIPAllocationMethodNotSupported", 400, told)

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        kept = super().completed(body, id_, old)
        taken = {each.properties.get("ipAddress") for each in self.store.all(self.arm_type)}
        free = (str(each) for each in ip_network("203.0.113.0/24").hosts())
        kept["properties"]["ipAddress"] = (
            old.properties["ipAddress"] if old else next(each for each in free if each not in taken)
        )
        return kept


class NatGateways(NetworkKind):
    """``Microsoft.Network/natGateways``."""

    arm_type = "Microsoft.Network/natGateways"
    token = "azure-native:network:NatGateway"  # noqa: S105 a type
    form = (PACKAGE, "NatGateway")
    is_tracked = True
    in_use = "InUseNatGatewayCannotBeDeleted"
    refers = ("publicIpAddresses",)
    has_zones = True
    fixed = ("sku.name",)
    defaults: ClassVar = {"idleTimeoutInMinutes": 4}

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        for id_ in referred(body["properties"].get("publicIpAddresses")):
            address = self.store.get(ArmId(id_))
            if address.body.get("sku", {}).get("name", "Basic") == "Basic":
                told = f"NAT gateway {request.id.name} needs addresses of sku Standard, {id_} is Basic."
                raise Refusal("NatGatewayPublicIpMustBeStandard", 400, told)

    @override
    def shown(self, resource: Resource) -> dict[str, Any]:
        shown = super().shown(resource)
        shown["properties"]["subnets"] = self.used_by(resource, SUBNET)
        return shown


def _unlabelled(name: str) -> Refusal:
    """Return the refusal of a name without a label; the code is assumed.

    Source of the words: https://github.com/hashicorp/terraform-provider-azurerm/pull/31699.
    """
    told = f"The domain name label in the dnsSettings section of the public IP address {name} is null or empty."
    must = "If a dnsSettings section exists, its domain name label must not be null or empty."
    return Refusal("DnsSettingsDomainNameLabelNullOrEmpty", 400, f"{told} {must}")
