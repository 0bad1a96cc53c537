"""Backups of clusters by Azure Backup: vaults, policies, what is backed up, and restores.

Sources, as keys of ``tools/facts/azure_sources.yaml``: spec-backup and its examples (bodies, the types of validation,
``sync``), backup-manage (another policy), backup-matrix (what cannot change, soft deletion), policy-fixed,
backup-troubleshoot (deletion without the extension). Other codes of refusals are assumed.

``DeepValidation`` lets a PUT run all checks, and so refuse. Without it an instance is made that may then be in
``ProtectionError``, which ``sync`` repairs: Azure/azure-cli-extensions 56633500a18d, ``src/dataprotection/
azext_dataprotection/manual/aks/aks_helper.py``; Azure/azure-service-operator, ``v2/api/dataprotection/customizations/
backup_vaults_backup_instance_extensions.go`` (2024). That this is the default is assumed.
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

from pydantic import Field
from typing_extensions import override

from emulators.azure.server import TENANT
from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.backup_points import (
    CONFIGURED,
    INSTANCE,
    POINT,
    cluster_id,
    days_of,
    schedule_of,
    snapshots_id,
)
from emulators.azure.server.kinds.backup_readiness import problems, runs_extension
from emulators.azure.server.kinds.kind import Form, Kind, Tracked
from emulators.azure.server.refusals import bad_request
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Operation, Resource, now
from emulators.core.fault_outcome import HealthIssue
from emulators.core.refusal import Refusal

VAULT: Final = "Microsoft.DataProtection/backupVaults"
POLICY: Final = f"{VAULT}/backupPolicies"
DELETED: Final = f"{VAULT}/deletedBackupInstances"
JOB: Final = f"{VAULT}/backupJobs"


class _SoftDelete(Form):
    state: Literal["On", "Off", "AlwaysOn"] = "On"
    retentionDurationInDays: float = 14  # noqa: N815 as it is on the wire, and all of these


class _Security(Form):
    softDeleteSettings: _SoftDelete = _SoftDelete()  # noqa: N815


class _StorageSetting(Form):
    datastoreType: Literal["VaultStore"]  # noqa: N815
    type: Literal["LocallyRedundant", "ZoneRedundant", "GeoRedundant"]


class _VaultProperties(Form):
    storageSettings: list[_StorageSetting] = Field(min_length=1)  # noqa: N815
    securitySettings: _Security = _Security()  # noqa: N815


class _Identity(Form):
    type: Literal["SystemAssigned"]


class _Vault(Tracked):
    identity: _Identity | None = None
    properties: _VaultProperties


class Vaults(Kind):
    """``Microsoft.DataProtection/backupVaults``; each one with an identity is a principal of its own."""

    arm_type = VAULT
    token = "azure-native:dataprotection:BackupVault"  # noqa: S105 a type
    version = "2025-01-01"
    form = _Vault
    names = r"[A-Za-z][-A-Za-z0-9]{0,48}[A-Za-z0-9]"
    is_tracked = True
    takes_time = True

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        if body.get("identity"):
            new = {**body["identity"], "principalId": str(uuid.uuid4()), "tenantId": TENANT}
            body = {**body, "identity": (old.body.get("identity") if old else None) or new}
        return super().completed(body, id_, old)

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        inside = [each for type_ in (INSTANCE, DELETED) for each in self.store.below(resource.id, type_)]
        if inside:
            told = f"The vault {resource.id.name} has backup instances, of which some may be soft deleted."
            raise Refusal("UserErrorVaultNotEmpty", 400, told)


class _PolicyProperties(Form):
    objectType: Literal["BackupPolicy"]  # noqa: N815
    datasourceTypes: list[Literal["Microsoft.ContainerService/managedClusters"]]  # noqa: N815
    policyRules: list[dict[str, Any]]  # noqa: N815


class _Policy(Form):
    properties: _PolicyProperties


class Policies(Kind):
    """``Microsoft.DataProtection/backupVaults/backupPolicies`` of clusters, with one schedule and one retention."""

    arm_type = POLICY
    token = "azure-native:dataprotection:BackupPolicy"  # noqa: S105 a type
    version = "2025-01-01"
    form = _Policy
    names = r"[A-Za-z][-A-Za-z0-9]{1,148}[A-Za-z0-9]"

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        if old:
            told = "Update of existing policy is not supported."
            raise Refusal("UserErrorBMSUpdatePolicyNotSupported", 400, told)
        if not (schedule_of(body) and days_of(body)):
            told = "Rules must be one AzureBackupRule that repeats every 4, 6, 8, 12 or 24 hours, and one of retention."
            raise bad_request(told)

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        if going is None and self.store.users(resource.id):
            raise bad_request(f"The policy {resource.id.name} has backup instances.")


class _Source(Form):
    objectType: Literal["Datasource", "DatasourceSet"]  # noqa: N815
    datasourceType: Literal["Microsoft.ContainerService/managedClusters"]  # noqa: N815
    resourceID: str  # noqa: N815
    resourceLocation: str  # noqa: N815
    resourceName: str  # noqa: N815
    resourceType: str  # noqa: N815
    resourceUri: str  # noqa: N815


class _Cluster(Form):
    objectType: Literal["KubernetesClusterBackupDatasourceParameters"]  # noqa: N815
    includeClusterScopeResources: bool  # noqa: N815
    snapshotVolumes: bool  # noqa: N815


class _Snapshots(Form):
    objectType: Literal["AzureOperationalStoreParameters"]  # noqa: N815
    dataStoreType: Literal["OperationalStore"]  # noqa: N815
    resourceGroupId: str  # noqa: N815


class _Parameters(Form):
    backupDatasourceParametersList: list[_Cluster] = Field(min_length=1, max_length=1)  # noqa: N815
    dataStoreParametersList: list[_Snapshots] = Field(min_length=1, max_length=1)  # noqa: N815


class _PolicyInfo(Form):
    policyId: str  # noqa: N815
    policyParameters: _Parameters  # noqa: N815


class _InstanceProperties(Form):
    objectType: Literal["BackupInstance"]  # noqa: N815
    friendlyName: str = ""  # noqa: N815
    dataSourceInfo: _Source  # noqa: N815
    dataSourceSetInfo: _Source  # noqa: N815
    policyInfo: _PolicyInfo  # noqa: N815
    validationType: Literal["ShallowValidation", "DeepValidation"] = "ShallowValidation"  # noqa: N815


class _Instance(Form):
    properties: _InstanceProperties
    tags: dict[str, str] = Field(default_factory=dict)


class Instances(Kind):
    """``Microsoft.DataProtection/backupVaults/backupInstances``: a cluster that is backed up."""

    arm_type = INSTANCE
    token = "azure-native:dataprotection:BackupInstance"  # noqa: S105 a type
    version = "2025-01-01"
    form = _Instance
    takes_time = True

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        given, vault = body["properties"], self.store.get(request.id.above.above)
        if self.store.find(given["policyInfo"]["policyId"]) is None:
            raise bad_request(f"The policy {given['policyInfo']['policyId']} was not found.")
        cluster = self.store.find(given["dataSourceInfo"]["resourceID"])
        if cluster is None:
            raise bad_request(f"The datasource {given['dataSourceInfo']['resourceID']} was not found.")
        if given.get("validationType") == "DeepValidation":
            for each in problems(self.store, vault, cluster, snapshots_id(given)):
                raise Refusal(each.code, 400, each.message)

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        whole = super().completed(body, id_, old)
        whole["properties"]["currentProtectionState"] = "ConfiguringProtection"
        return whole

    @override
    def made(self, resource: Resource) -> None:
        super().made(resource)
        self._protect(resource)

    def _protect(self, instance: Resource) -> None:
        """Configure protection, which may end in an error though the request has succeeded."""
        instance.properties.pop("protectionErrorDetails", None)
        cluster = self.store.find(cluster_id(instance))
        found = [HealthIssue("UserErrorDatasourceNotFound", f"There is no cluster {cluster_id(instance).text}.")]
        if cluster:
            vault = self.store.get(instance.id.above.above)
            found = list(problems(self.store, vault, cluster, snapshots_id(instance.properties)))
        instance.properties["currentProtectionState"] = "ProtectionError" if found else CONFIGURED
        if found:
            instance.properties["protectionErrorDetails"] = {"code": found[0].code, "message": found[0].message}

    @override
    def gone(self, resource: Resource) -> Iterable[HealthIssue]:
        has_points = next(self.store.below(resource.id, POINT), None) is not None
        if has_points and not runs_extension(self.store, self.store.find(cluster_id(resource))):
            told = "The backup extension must run in the cluster to delete its backups."
            return [HealthIssue("BackupPluginDeleteBackupOperationFailed", told)]
        vault = self.store.get(resource.id.above.above)
        if vault.properties.get("securitySettings", {}).get("softDeleteSettings", {}).get("state", "On") != "Off":
            id_ = ArmId(f"{vault.id.text}/deletedBackupInstances/{resource.id.name}")
            deleted = Resource(id_, DELETED, {"properties": {}}, is_made_by_azure=True)
            self.store.add(deleted)
            self.store.clock.later(f"{INSTANCE}/purge", lambda: self.store.remove(deleted))
        return super().gone(resource)

    @override
    def actions(self) -> Mapping[str, Callable[[Request], Any]]:
        return {"restore": self._restore, "sync": self._sync}

    def _sync(self, request: Request) -> Operation:
        """Try again what failed last."""
        instance = self.store.get(request.id)
        _Sync.model_validate(request.body, strict=True)

        def end(issues: tuple[HealthIssue, ...]) -> tuple[HealthIssue, ...]:
            if not issues:
                self._protect(instance)
            return issues

        return self.store.begin(instance, "sync", request.outcome, end)

    def _restore(self, request: Request) -> Operation:
        """Begin a restore, of which the vault keeps a job."""
        instance = self.store.get(request.id)
        wanted = _Restore.model_validate(request.body, strict=True)
        if self.store.find(f"{instance.id.text}/recoveryPoints/{wanted.recoveryPointId}") is None:
            raise bad_request(f"The recovery point {wanted.recoveryPointId} was not found.")
        target = ArmId(wanted.restoreTargetInfo.datasourceInfo.resourceID)
        if not runs_extension(self.store, self.store.find(target)):
            raise bad_request(f"The cluster {target.text} does not run, or has no backup extension.")
        job = Jobs.begun(instance, target)
        self.store.add(job)

        def end(issues: tuple[HealthIssue, ...]) -> tuple[HealthIssue, ...]:
            job.properties.update(status="Failed" if issues else "Completed", endTime=now())
            return issues

        return self.store.begin(instance, "restore", request.outcome, end)


class Jobs(Kind):
    """``Microsoft.DataProtection/backupVaults/backupJobs``, of restores alone: only Azure makes them.

    Its properties are those of ``examples/JobCRUD/ListJobs.json`` beside spec-backup, its states those of Azure's CLI
    (Azure/azure-cli-extensions 098a6ce0, ``src/dataprotection/azext_dataprotection/manual/enums.py``).
    """

    arm_type = JOB
    token = JOB
    version = "2025-01-01"
    form = Form

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        raise Refusal("MethodNotAllowed", 405, "Jobs are made by backups and restores.")

    @staticmethod
    def begun(instance: Resource, cluster: ArmId) -> Resource:
        """Return the job of a restore that begins now."""
        properties = {
            "backupInstanceId": instance.id.text,
            "dataSourceId": cluster.text,
            "operation": "Restore",
            "operationCategory": "Restore",
            "startTime": now(),
            "status": "InProgress",
        }
        id_ = ArmId(f"{instance.id.above.above.text}/backupJobs/{uuid.uuid4()}")
        return Resource(id_, JOB, {"properties": properties}, is_made_by_azure=True)


class _Sync(Form):
    syncType: Literal["Default", "ForceResync"] = "Default"  # noqa: N815


class _Criteria(Form):
    objectType: Literal["KubernetesClusterRestoreCriteria"]  # noqa: N815
    includeClusterScopeResources: bool  # noqa: N815
    includedNamespaces: list[str] | None = None  # noqa: N815
    conflictPolicy: Literal["Skip", "Patch"]  # noqa: N815
    persistentVolumeRestoreMode: Literal["RestoreWithVolumeData", "RestoreWithoutVolumeData"]  # noqa: N815


class _Target(Form):
    objectType: Literal["ItemLevelRestoreTargetInfo"]  # noqa: N815
    recoveryOption: Literal["FailIfExists"]  # noqa: N815
    restoreLocation: str  # noqa: N815
    datasourceInfo: _Source  # noqa: N815
    datasourceSetInfo: _Source  # noqa: N815
    restoreCriteria: list[_Criteria] = Field(min_length=1)  # noqa: N815


class _Restore(Form):
    objectType: Literal["AzureBackupRecoveryPointBasedRestoreRequest"]  # noqa: N815
    recoveryPointId: str  # noqa: N815
    sourceDataStoreType: Literal["OperationalStore"]  # noqa: N815
    sourceResourceId: str  # noqa: N815
    restoreTargetInfo: _Target  # noqa: N815
