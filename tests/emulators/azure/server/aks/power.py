"""Stops and starts clusters.

The name of a stopped cluster is not in Azure's DNS (https://github.com/MicrosoftDocs/azure-docs/issues/72522), so that
calls of its API server fail at once. Here its address refuses connections, which clients notice as fast.
"""

from typing import Final

from emulators.azure.server.aks.busy import RUNNING, STOPPED, refuse_busy
from emulators.azure.server.ids import POOL
from emulators.azure.server.requests import Request
from emulators.azure.server.store import FAILED, SUCCEEDED, Operation, Store
from emulators.core.doors import Doors
from emulators.core.fault_outcome import HealthIssue
from emulators.core.refusal import Refusal

DOING: Final = {RUNNING: "Starting", STOPPED: "Stopping"}
"""Provisioning states meanwhile: https://learn.microsoft.com/azure/aks/start-stop-cluster."""


def switch(store: Store, doors: Doors, request: Request, code: str) -> Operation:
    """Begin to give a cluster another power state. That its pools get it too, and keep their counts, is assumed.

    Parameters
    ----------
    doors
        By which callers reach the API server.
    code
        The new state. That it must be another one: https://github.com/MicrosoftDocs/azure-docs/issues/85161, from
        which the words are; the code of the refusal is assumed.
    """
    cluster, doing = store.get(request.id), DOING[code]
    refuse_busy(store, cluster)
    if cluster.properties["powerState"]["code"] == code:
        state = f"Provisioning State({cluster.state}) and Power State({code})"
        told = f"managed cluster is in {state}, {doing.lower()} cannot be performed"
        raise Refusal("OperationNotAllowed", 409, told)
    parts = [cluster, *store.below(cluster.id, POOL)]
    for part in parts:
        part.state = doing

    def end(issues: tuple[HealthIssue, ...]) -> tuple[HealthIssue, ...]:
        for part in parts:
            part.state = FAILED if issues else SUCCEEDED
            if not issues:
                part.properties["powerState"] = {"code": code}
        if not issues:
            (doors.wake if code == RUNNING else doors.sleep)(cluster.id.key)
        return issues

    return store.begin(cluster, request.action.lower(), request.outcome, end)
