"""When AKS may work on a cluster by itself."""

from typing import Any

from typing_extensions import override

from emulators.azure.server.aks.busy import refuse_stopped
from emulators.azure.server.aks.pools import lowered
from emulators.azure.server.ids import CLUSTER, ArmId
from emulators.azure.server.kinds.kind import Kind
from emulators.azure.server.refusals import invalid
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource

WINDOWS = ("aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule")
"""Names of those with a window; the one called ``default`` has hours of the week."""

HOURS = range(4, 25)


class MaintenanceConfigurations(Kind):
    """``Microsoft.ContainerService/managedClusters/maintenanceConfigurations``."""

    arm_type = f"{CLUSTER}/maintenanceConfigurations"
    token = "azure-native:containerservice:MaintenanceConfiguration"  # noqa: S105 a type
    version = "2025-09-01"
    form = ("azure.mgmt.containerservice", "MaintenanceConfiguration")

    @override
    def id_of(self, asked: ArmId) -> ArmId:
        return lowered(asked)

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        refuse_stopped(self.store.get(request.id.above.above))
        name, given = request.id.name, body["properties"]
        if name not in (*WINDOWS, "default"):
            raise invalid("maintenanceConfiguration.name", f"It must be default or one of {', '.join(WINDOWS)}.")
        window = given.get("maintenanceWindow")
        if name == "default":
            if window or not given.get("timeInWeek"):
                raise invalid("maintenanceConfiguration.timeInWeek", "default needs timeInWeek, and has no window.")
            return
        if not window or given.get("timeInWeek"):
            raise invalid("maintenanceConfiguration.maintenanceWindow", f"{name} needs maintenanceWindow alone.")
        schedules = [each for each in window.get("schedule", {}).values() if each]
        if len(schedules) != 1:
            raise invalid("maintenanceWindow.schedule", "It needs exactly one of daily, weekly and the monthly ones.")
        if window.get("durationHours") not in HOURS:
            raise invalid("maintenanceWindow.durationHours", f"It must be {HOURS[0]} to {HOURS[-1]}.")
