"""Office hours on AKS: workflows of Azure Logic Apps that stop and start the cluster.

AKS has no schedule of its own. A stopped cluster has neither nodes nor a control plane, and its objects are kept for 12
months: https://learn.microsoft.com/azure/aks/start-stop-cluster.
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final
from uuid import NAMESPACE_URL, uuid5

from pydantic import AfterValidator, Field, ValidationInfo

from components.contract.aks.maintenance import Maintenance, NodeImageChannel, UpgradeChannel
from components.contract.choices import Explained, Findings
from components.contract.hours import CLOCK_CHANGES_OF, WEEKDAYS, OfficeHours

RIGHTS: Final = tuple(
    f"Microsoft.ContainerService/managedClusters/{right}" for right in ("read", "start/action", "stop/action")
)
"""Everything that the workflows' identity may do; every built-in role with these actions allows many more."""

API_VERSION: Final = "2025-09-01"
"""Version of AKS's API that the workflows use."""

ARM: Final = "https://management.azure.com"

SCHEMA: Final = (
    "https://schema.management.azure.com/providers/Microsoft.Logic/schemas/2016-06-01/workflowdefinition.json#"
)
"""Schema of workflow definitions."""

SINCE: Final = "2026-01-01T00:00:00"
"""Start of the recurrences. A workflow without one also runs as soon as it is deployed.

https://learn.microsoft.com/azure/logic-apps/concepts-schedule-automated-recurring-tasks-workflows
"""


class PowerAction(StrEnum):
    """What a workflow does with the cluster: the name of the action in AKS's API."""

    STOP = "stop"
    START = "start"

    def time(self, hours: OfficeHours) -> str:
        """Return the local time at which it happens."""
        return hours.closes if self is PowerAction.STOP else hours.opens


def windows_zone(zone: str) -> str | None:
    """Return the name that Windows, and so Azure, has for an IANA time zone; None if it has none."""
    from tzlocal.windows_tz import tz_win  # noqa: PLC0415 only stacks with office hours on AKS load the names

    return tz_win.get(zone)


def require_possible(hours: OfficeHours, window: Maintenance | None, *, upgrades: bool) -> None:
    """Refuse hours that do not work on AKS.

    Parameters
    ----------
    window
        The maintenance window; None if the stack file has an invalid one.
    upgrades
        Whether AKS upgrades the cluster automatically.

    Raises
    ------
    ValueError
        Azure does not know the time zone, or the window for upgrades is outside the hours.
    """
    findings = Findings()
    if not windows_zone(hours.time_zone):
        message = "has no name in Windows, by which Azure knows time zones; use a city with the same clock"
        findings.add(message, "timeZone", given=hours.time_zone)
    if window and upgrades and not _is_within(hours, window):
        findings.add(
            f"AKS would never upgrade the cluster: cluster.maintenance ({window}) is not within these hours; move it "
            "there, or set upgradeChannel and nodeImageChannel to none"
        )
    findings.raise_if_any()


def role_id(group: str) -> str:
    """Return the id of the role with ``RIGHTS``, which must be a GUID in Azure.

    Parameters
    ----------
    group
        Id of the resource group on which it can be assigned.
    """
    return str(uuid5(NAMESPACE_URL, f"{group.lower()}\noffice hours"))


def definition(hours: OfficeHours, action: PowerAction, cluster: str, identity: str) -> dict[str, Any]:
    """Return the definition of a workflow.

    Parameters
    ----------
    cluster, identity
        Ids of the cluster, and of the identity that may stop and start it.
    """
    hour, minute = map(int, action.time(hours).split(":"))
    days = [day.value.title() for day in WEEKDAYS if day in hours.days]
    recurrence = {
        "frequency": "Week",
        "interval": 1,
        "startTime": SINCE,
        "timeZone": windows_zone(hours.time_zone),
        "schedule": {"weekDays": days, "hours": [hour], "minutes": [minute]},
    }
    request = {
        "method": "POST",
        "uri": f"{ARM}{cluster}/{action}?api-version={API_VERSION}",
        "authentication": {"type": "ManagedServiceIdentity", "identity": identity, "audience": f"{ARM}/"},
    }
    return {
        "$schema": SCHEMA,
        "contentVersion": "1.0.0.0",
        "parameters": {},
        "triggers": {"hours": {"type": "Recurrence", "recurrence": recurrence}},
        # The operation is not a part of the cluster: reading its state needs a role on the subscription.
        "actions": {
            action.value: {
                "type": "Http",
                "runAfter": {},
                "inputs": request,
                "operationOptions": "DisableAsyncPattern",
            }
        },
        "outputs": {},
    }


def _is_within(hours: OfficeHours, window: Maintenance) -> bool:
    """Return whether the window, which is in UTC, is within the hours all year, also during daylight saving time."""
    first = datetime(CLOCK_CHANGES_OF, 1, 1, window.start_hour, tzinfo=UTC)
    starts = (first + timedelta(days=number) for number in range(365))
    return all(
        hours.is_open_between(start, start + timedelta(hours=window.hours))
        for start in starts
        if WEEKDAYS[start.weekday()] == window.day.value
    )


def _possible(hours: OfficeHours | None, info: ValidationInfo) -> OfficeHours | None:
    if hours:
        channels = info.data.get("upgrade_channel"), info.data.get("node_image_channel")
        upgrades = channels != (UpgradeChannel.NONE, NodeImageChannel.NONE)
        require_possible(hours, info.data.get("maintenance"), upgrades=upgrades)
    return hours


AksOfficeHours = Annotated[
    OfficeHours | None,
    AfterValidator(_possible),
    Explained(
        "Only an explicit choice stops running work.",
        "Workflows of Azure Logic Apps that stop and start the cluster: outside the hours it has neither nodes nor "
        "a control plane (docs/office-hours.md).",
    ),
    Field(
        description="Hours of a development cluster, which is stopped outside them.",
        examples=[{"from": "08:00", "to": "19:00", "timeZone": "Europe/Berlin"}],
    ),
]
"""The field ``office_hours`` of an AKS cluster."""
