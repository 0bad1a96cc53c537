"""Jobs of Azure Backup: what a vault does, and did, to what it protects.

Sources: spec-backup of ``tools/facts/azure_sources.yaml`` (``AzureBackupJob``, which has these members); "Restore Azure
Disks using Azure Data Protection REST API" of https://learn.microsoft.com/azure/backup (2023), with a job ``Restore``
that is ``Completed``; Azure/azure-cli-extensions 6f227c33cc7e,
``src/dataprotection/azext_dataprotection/tests/utils.py``, which waits while it is ``InProgress``.
``Failed``, and that a backup is a ``Backup``, are assumed.
"""

import uuid
from typing import Any, Final

from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.kind import Form, Kind
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource, Store, now
from emulators.core.refusal import Refusal

JOB: Final = "Microsoft.DataProtection/backupVaults/backupJobs"

DONE: Final = "Completed"


class Jobs(Kind):
    """``Microsoft.DataProtection/backupVaults/backupJobs``: only Azure makes them."""

    arm_type = JOB
    token = JOB
    version = "2025-01-01"
    form = Form

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        raise Refusal("MethodNotAllowed", 405, "Jobs are made by what Azure Backup does.")


def begin(store: Store, instance: Resource, operation: str) -> Resource:
    """Let a vault have a job.

    Parameters
    ----------
    operation
        ``Backup`` or ``Restore``.
    """
    source, vault = instance.properties["dataSourceInfo"], instance.id.above.above
    properties = {
        "backupInstanceFriendlyName": instance.properties.get("friendlyName") or source["resourceName"],
        "backupInstanceId": instance.id.text,
        "dataSourceId": source["resourceID"],
        "dataSourceName": source["resourceName"],
        "dataSourceType": source["datasourceType"],
        "isUserTriggered": operation == "Restore",
        "operation": operation,
        "operationCategory": operation,
        "startTime": now(),
        "status": "InProgress",
        "vaultName": vault.name,
    }
    id_ = ArmId(f"{vault.text}/backupJobs/{uuid.uuid4()}")
    job = Resource(id_, JOB, {"properties": properties}, is_made_by_azure=True)
    store.add(job)
    return job


def end(job: Resource, status: str = DONE) -> None:
    """Let a job have ended."""
    job.properties.update(status=status, endTime=now())
