"""Route tables: subnets name them; routes that are resources of their own are not here."""

from typing import Any, ClassVar

from typing_extensions import override

from emulators.azure.server.kinds.network_kind import PACKAGE, SUBNET, NetworkKind
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource


class RouteTables(NetworkKind):
    """``Microsoft.Network/routeTables``."""

    arm_type = "Microsoft.Network/routeTables"
    token = "azure-native:network:RouteTable"  # noqa: S105 a type
    form = (PACKAGE, "RouteTable")
    is_tracked = True
    in_use = "InUseRouteTableCannotBeDeleted"
    defaults: ClassVar = {"disableBgpRoutePropagation": False, "routes": []}

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        # Nothing of it is fixed; no program of ours makes one, so the facts do not tell.
        super().check(request, body, None)

    @override
    def shown(self, resource: Resource) -> dict[str, Any]:
        shown = super().shown(resource)
        shown["properties"]["subnets"] = self.used_by(resource, SUBNET)
        return shown
