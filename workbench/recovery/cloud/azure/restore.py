"""Backups of the stack's cluster in Azure Backup, and the command that restores one.

Azure/azure-rest-api-specs, Microsoft.DataProtection 2025-01-01, ``dataprotection.json``;
https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-restore-using-cli.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from components.contract.aks.backup import DATASOURCE, STORE, VAULT, group_name
from workbench.offline.azure.facts import resource
from workbench.recovery.cloud.azure.queries import ARM, AzureQueries
from workbench.recovery.cloud.recovery_point import RecoveryPoint
from workbench.recovery.cloud.restore_job import RestoreJob

INSTANCE: Final = "azure-native:dataprotection:BackupInstance"

_PROTECTED: Final = frozenset({"ProtectionConfigured", "ConfiguringProtection", "UpdatingProtection"})
_STOPPED: Final = frozenset({"BackupSchedulesSuspended", "ProtectionStopped", "RetentionSchedulesSuspended"})
"""Values of ``currentProtectionState``; ``_STOPPED``: the backups of an instance were stopped."""

_RESTORE: Final = "Restore"
"""Value of ``operationCategory``. Here and below: Azure/azure-cli-extensions 098a6ce0,
``src/dataprotection/azext_dataprotection/manual/enums.py``."""
_RESTORED: Final = frozenset({"Completed", "CompletedWithWarnings"})
"""Values of ``status``; the second is that of Azure's page on restores (spelling assumed)."""


def recovery_points(queries: AzureQueries) -> list[RecoveryPoint]:
    """Return the backups of the cluster, newest first, also of an earlier cluster of its name."""
    instance = _instance(queries)
    found = queries.listed(f"{instance}/recoveryPoints", resource(INSTANCE).api_version)
    return sorted((_point(queries, each) for each in found), key=lambda each: each.made, reverse=True)


def restore_jobs(queries: AzureQueries) -> list[RestoreJob]:
    """Return the restores from the cluster's backups, newest first."""
    vault, _, name = _instance(queries).partition("/backupInstances/")
    jobs = [
        _job(name, each)
        for each in queries.listed(f"{vault}/backupJobs", resource(INSTANCE).api_version)
        if each["properties"]["operationCategory"] == _RESTORE
        and each["properties"]["dataSourceId"].lower() == queries.choices.cluster_id.lower()
    ]
    return sorted(jobs, key=lambda each: each.begun, reverse=True)


def problem(queries: AzureQueries) -> str:
    """Return why Azure makes no backups of a cluster that has an instance, and what to do; empty if it makes them.

    Creating an instance may succeed although its protection fails; ``sync`` makes Azure retry:
    Azure/azure-service-operator, ``v2/api/dataprotection/customizations/backup_vaults_backup_instance_extensions.go``.
    """
    instance = _instance(queries)
    properties = queries.look_up(INSTANCE, instance).get("properties") or {}
    state = str(properties.get("currentProtectionState") or "")
    if not state or state in _PROTECTED:
        return ""
    error = properties.get("protectionErrorDetails") or {}
    reason = f" {error.get('code', '')}: {error.get('message', '')}".rstrip(": ")
    if state in _STOPPED:
        names = f"-g {group_name(queries.choices.resource_group)} --vault-name {VAULT} --name {queries.choices.name}"
        way = f"`az dataprotection backup-instance resume-protection {names}` resumes them."
    else:
        way = f"`{_post(f'{instance}/sync', {'syncType': 'Default'})}` makes Azure retry."
    return f"Azure makes no backups of the cluster: its instance is in {state}.{reason} {way}"


def command(queries: AzureQueries, point: RecoveryPoint, namespaces: Sequence[str]) -> str:
    """Return the command of Azure's CLI that restores a backup of the cluster into it.

    Parameters
    ----------
    namespaces
        Namespaces to restore. Empty: all.
    """
    choices = queries.choices
    source = {
        "datasourceType": DATASOURCE,
        "resourceID": choices.cluster_id,
        "resourceLocation": choices.location,
        "resourceName": choices.name,
        "resourceType": DATASOURCE,
        "resourceUri": choices.cluster_id,
    }
    criteria = {
        "objectType": "KubernetesClusterRestoreCriteria",
        "includeClusterScopeResources": True,
        "conflictPolicy": "Skip",
        "persistentVolumeRestoreMode": "RestoreWithVolumeData",
        **({"includedNamespaces": list(namespaces)} if namespaces else {}),
    }
    body = {
        "objectType": "AzureBackupRecoveryPointBasedRestoreRequest",
        "recoveryPointId": point.id.rpartition("/")[2],
        "sourceDataStoreType": STORE,
        "sourceResourceId": choices.cluster_id,
        "restoreTargetInfo": {
            "objectType": "ItemLevelRestoreTargetInfo",
            "recoveryOption": "FailIfExists",
            "restoreLocation": choices.location,
            "datasourceInfo": {"objectType": "Datasource", **source},
            "datasourceSetInfo": {"objectType": "DatasourceSet", **source},
            "restoreCriteria": [criteria],
        },
    }
    return _post(f"{_instance(queries)}/restore", body)


def _post(path: str, body: Mapping[str, Any]) -> str:
    """Return the command of Azure's CLI for a request that it has no command for."""
    url = f"{ARM}{path}?api-version={resource(INSTANCE).api_version}"
    return shlex.join(["az", "rest", "--method", "post", "--url", url, "--body", json.dumps(body, sort_keys=True)])


def _instance(queries: AzureQueries) -> str:
    group = group_name(queries.choices.group_id)
    return f"{group}/providers/Microsoft.DataProtection/backupVaults/{VAULT}/backupInstances/{queries.choices.name}"


def _point(queries: AzureQueries, found: Mapping[str, Any]) -> RecoveryPoint:
    properties = found["properties"]
    until = properties.get("expiryTime")
    return RecoveryPoint(
        found["id"],
        queries.choices.name,
        _moment(properties["recoveryPointTime"]),
        _moment(until) if until else None,
        str(properties.get("recoveryPointState") or "").upper(),
        VAULT,
    )


def _job(cluster: str, found: Mapping[str, Any]) -> RestoreJob:
    properties = found["properties"]
    ended, state = properties.get("endTime"), properties["status"]
    return RestoreJob(
        found["name"],
        cluster,
        _moment(properties["startTime"]),
        _moment(ended) if ended else None,
        state.upper(),
        is_restored=state in _RESTORED,
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
