from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from emulators.azure.server import TENANT
from emulators.core.faults import StuckRule
from support.aks_account import LOCATION, Account, unique
from support.azure_backups import BLOBS, CONTRIBUTOR, READER, instance_inputs, rules

OPERATOR = "Microsoft.DataProtection/backupVaults/backup-operator"
NIGHT = datetime(2027, 1, 1, 2, tzinfo=UTC)


class Backed:
    """A cluster with everything that its backups need."""

    def __init__(self, own: Account) -> None:
        self.own, self.cluster = own, own.cluster()
        self.vault = f"{own.group}/providers/Microsoft.DataProtection/backupVaults/{unique('vault')}"
        storage = {"storageSettings": [{"datastoreType": "VaultStore", "type": "LocallyRedundant"}]}
        body = {"location": LOCATION, "identity": {"type": "SystemAssigned"}, "properties": storage}
        self.principal = str(own.put(self.vault, body).body["identity"]["principalId"])
        self.policy = f"{self.vault}/backupPolicies/every-day"
        own.put(self.policy, {"properties": rules()})
        self.account = f"{own.group}/providers/Microsoft.Storage/storageAccounts/{unique('backup')}"
        self.open({})
        own.put(f"{self.account}/blobServices/default/containers/cluster", {})
        self.snapshots = f"{own.group}-snapshots"
        own.put(self.snapshots, {"location": LOCATION})
        self.id = f"{self.vault}/backupInstances/mlrun"
        self.binding = f"{self.cluster}/trustedAccessRoleBindings/backup"
        self.extension = f"{self.cluster}/providers/Microsoft.KubernetesConfiguration/extensions/backup"

    def open(self, rules: dict[str, Any]) -> None:
        """Write the account with these rules of networks."""
        body = {"location": LOCATION, "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}}
        self.own.put(self.account, {**body, "properties": {"networkAcls": rules} if rules else {}})

    def prepare(self, without: str = "") -> None:
        if without != "binding":
            self.own.put(self.binding, {"properties": {"sourceResourceId": self.vault, "roles": [OPERATOR]}})
        if without == "extension":
            self._grant(self.principal, READER, self.cluster)
            return
        self.grants = {
            "cluster": (self.principal, READER, self.cluster),
            "group": (self.principal, READER, self.snapshots),
            "snapshots": (self.own.principal(self.own.identity), CONTRIBUTOR, self.snapshots),
            "objects": (self._install(), BLOBS, self.account),
        }
        for name in self.grants:
            if name != without:
                self.grant(name)

    def _install(self) -> str:
        location, words = "configuration.backupStorageLocation.config", self.account.split("/")
        settings = {
            "configuration.backupStorageLocation.bucket": "cluster",
            f"{location}.subscriptionId": words[2],
            f"{location}.resourceGroup": words[4],
            f"{location}.storageAccount": words[-1],
        }
        properties = {
            "extensionType": "microsoft.dataprotection.kubernetes",
            "scope": {"cluster": {"releaseNamespace": "dataprotection-microsoft"}},
            "configurationSettings": settings,
        }
        made = self.own.put(self.extension, {"properties": properties}).body
        return str(self.own.properties(made["id"])["aksAssignedIdentity"]["principalId"])

    def grant(self, name: str) -> None:
        """Assign one of the roles."""
        self._grant(*self.grants[name])

    def _grant(self, who: str, role: str, scope: str) -> None:
        definition = (
            f"{self.own.group.partition('/resourceGroups')[0]}/providers/Microsoft.Authorization/roleDefinitions"
        )
        given = {"principalId": who, "principalType": "ServicePrincipal", "roleDefinitionId": f"{definition}/{role}"}
        name = f"{unique('99999999-0000-4000-8000-')[:36]:0<36}"
        self.own.put(f"{scope}/providers/Microsoft.Authorization/roleAssignments/{name}", {"properties": given})

    def body(self, validation: str = "DeepValidation") -> dict[str, Any]:
        properties = instance_inputs(self.cluster, self.policy, self.snapshots)["properties"]
        return {"properties": {**properties, "validationType": validation}}

    def protection(self) -> tuple[str, str]:
        """Return the state of the protection, and the code of its error."""
        found = self.own.properties(self.id)
        return found["currentProtectionState"], found.get("protectionErrorDetails", {}).get("code", "")

    def run(self, moment: datetime) -> list[str]:
        """Make the backups that are due, and return those of this cluster: others are in the same Azure."""
        return [each for each in self.own.az.run_backups(moment) if each.startswith(self.id)]

    def points(self) -> list[dict[str, Any]]:
        return list(self.own.get(f"{self.id}/recoveryPoints")["value"])


@pytest.fixture
def backed(own: Account) -> Backed:
    return Backed(own)


MISSING = [
    ("cluster", "KubernetesBackupListExtensionsError"),
    ("binding", "UserErrorTrustedAccessNotEnabled"),
    ("extension", "UserErrorKubernetesBackupExtensionNotFoundError"),
    ("objects", "UserErrorExtensionMSIMissingPermissionsOnBackupStorageLocation"),
    ("group", "UserErrorNotEnoughPermissionOnSnapshotRG"),
    ("snapshots", "UserErrorNotEnoughPermissionOnSnapshotRG"),
]


@pytest.mark.parametrize(("without", "code"), MISSING)
def test_a_validated_cluster_is_backed_up_only_with_everything_that_this_needs(
    backed: Backed, without: str, code: str
) -> None:
    backed.prepare(without)
    assert backed.own.refused("PUT", backed.id, backed.body()).code == code


def test_without_validation_an_instance_is_made_and_its_protection_has_an_error_until_it_is_repaired(
    backed: Backed,
) -> None:
    backed.prepare("group")
    backed.own.put(backed.id, backed.body("ShallowValidation"))
    assert backed.protection() == ("ProtectionError", "UserErrorNotEnoughPermissionOnSnapshotRG")
    assert backed.run(NIGHT) == []
    backed.grant("group")
    assert backed.own.ask("POST", f"{backed.id}/sync", {"syncType": "Default"}).status == 202
    assert backed.protection() == ("ProtectionConfigured", "")
    assert len(backed.run(NIGHT)) == 1


def test_an_account_that_denies_all_must_admit_the_nodes_and_the_vault(backed: Backed) -> None:
    backed.prepare()
    endpoint = {"serviceEndpoints": [{"service": "Microsoft.Storage"}]}
    backed.own.put(backed.own.subnet, {"properties": {"addressPrefix": "10.1.0.0/20", **endpoint}})
    closed = {"defaultAction": "Deny", "virtualNetworkRules": [{"id": backed.own.subnet}]}
    backed.open(closed)
    assert backed.own.refused("PUT", backed.id, backed.body()).code == "UserErrorBackupStorageLocationNotReady"
    backed.open({**closed, "resourceAccessRules": [{"tenantId": TENANT, "resourceId": backed.vault}]})
    backed.own.put(backed.id, backed.body())
    assert len(backed.run(NIGHT)) == 1
    backed.open(closed)
    assert backed.run(NIGHT + timedelta(days=1)) == []


def test_backups_are_made_when_they_are_due_and_expire_while_the_cluster_runs(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    assert backed.run(NIGHT + timedelta(hours=1)) == []
    (made,) = backed.run(NIGHT)
    (point,) = backed.points()
    assert (point["id"], point["properties"]["recoveryPointState"]) == (made, "Completed")
    later = NIGHT + timedelta(days=35)
    backed.own.ask("POST", f"{backed.cluster}/stop")
    assert backed.run(later) == []
    assert len(backed.points()) == 1
    backed.own.ask("POST", f"{backed.cluster}/start")
    assert len(backed.run(later)) == 1
    assert [each["id"] == made for each in backed.points()] == [False]


def test_a_backup_and_a_restore_are_jobs_of_the_vault(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    (point,) = backed.run(NIGHT)
    source = backed.body()["properties"]["dataSourceInfo"]
    criteria = {
        "objectType": "KubernetesClusterRestoreCriteria",
        "includeClusterScopeResources": True,
        "conflictPolicy": "Skip",
        "persistentVolumeRestoreMode": "RestoreWithVolumeData",
    }
    target = {
        "objectType": "ItemLevelRestoreTargetInfo",
        "recoveryOption": "FailIfExists",
        "restoreLocation": LOCATION,
        "datasourceInfo": source,
        "datasourceSetInfo": {**source, "objectType": "DatasourceSet"},
        "restoreCriteria": [criteria],
    }
    body = {
        "objectType": "AzureBackupRecoveryPointBasedRestoreRequest",
        "recoveryPointId": point.rpartition("/")[2],
        "sourceDataStoreType": "OperationalStore",
        "sourceResourceId": backed.cluster,
        "restoreTargetInfo": target,
    }

    def jobs() -> list[tuple[str, str]]:
        found = [each["properties"] for each in backed.own.get(f"{backed.vault}/backupJobs")["value"]]
        return [(each["operation"], each["status"]) for each in found]

    backed.own.az.set_faults(StuckRule(operation="*/restore/action", times=1))
    for _ in range(2):
        assert backed.own.ask("POST", f"{backed.id}/restore", body).status == 202
    assert jobs() == [("Backup", "Completed"), ("Restore", "InProgress"), ("Restore", "Completed")]
    assert backed.own.refused("PUT", f"{backed.vault}/backupJobs/mine", {}).code == "MethodNotAllowed"


def test_the_newest_backup_stays_when_it_has_expired(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    made = backed.run(NIGHT)
    assert backed.run(NIGHT + timedelta(days=90, hours=1)) == []
    assert [each["id"] for each in backed.points()] == made


def test_a_cluster_takes_another_policy_for_backups_from_then_on(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    (before,) = backed.run(NIGHT)
    other = deepcopy(backed.body())
    other["properties"]["policyInfo"]["policyId"] = f"{backed.vault}/backupPolicies/every-4-hours"
    backed.own.put(f"{backed.vault}/backupPolicies/every-4-hours", {"properties": rules("PT4H", days=90)})
    backed.own.put(backed.id, other)
    assert len(backed.run(NIGHT + timedelta(hours=4))) == 1
    kept = {each["id"]: each["properties"]["expiryTime"] for each in backed.points()}
    assert datetime.fromisoformat(kept[before]) == NIGHT + timedelta(days=35)
    assert sorted(kept.values())[1] == (NIGHT + timedelta(days=90, hours=4)).isoformat()


def test_the_group_of_the_snapshots_stays_the_same(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    (store,) = backed.body()["properties"]["policyInfo"]["policyParameters"]["dataStoreParametersList"]
    other = deepcopy(backed.body())
    elsewhere = {**store, "resourceGroupId": backed.own.group}
    other["properties"]["policyInfo"]["policyParameters"]["dataStoreParametersList"] = [elsewhere]
    assert backed.own.refused("PUT", backed.id, other).code == "PropertyChangeNotAllowed"


def test_a_policy_is_never_updated_and_stays_while_it_is_used(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    again = backed.own.refused("PUT", backed.policy, {"properties": rules()})
    assert again.code == "UserErrorBMSUpdatePolicyNotSupported"
    assert backed.own.refused("DELETE", backed.policy).code == "BadRequest"


def test_backups_are_deleted_by_a_running_extension_alone(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    assert len(backed.run(NIGHT)) == 1
    backed.own.ask("POST", f"{backed.cluster}/stop")
    told = backed.own.operation(backed.own.delete(backed.id))
    assert told["error"]["code"] == "BackupPluginDeleteBackupOperationFailed"
    assert len(backed.points()) == 1
    backed.own.ask("POST", f"{backed.cluster}/start")
    assert backed.own.operation(backed.own.delete(backed.id))["status"] == "Succeeded"


def test_the_vault_is_let_in_after_the_extension_has_been_installed(backed: Backed) -> None:
    backed.own.az.set_faults(StuckRule(operation="Microsoft.KubernetesConfiguration/extensions/write", times=1))
    backed.prepare("binding")
    entry = {"properties": {"sourceResourceId": backed.vault, "roles": [OPERATOR]}}
    assert backed.own.refused("PUT", backed.binding, entry).code == "OperationNotAllowed"


def test_a_vault_stays_as_long_as_it_has_backups(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    assert backed.own.refused("DELETE", backed.vault).code == "UserErrorVaultNotEmpty"
    backed.own.delete(backed.id)
    backed.own.delete(backed.vault)
