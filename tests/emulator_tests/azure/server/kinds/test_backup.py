from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

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
        own.put(self.account, {"location": LOCATION, "kind": "StorageV2", "sku": {"name": "Standard_ZRS"}})
        self.snapshots = f"{own.group}-backup"
        own.put(self.snapshots, {"location": LOCATION})
        self.id = f"{self.vault}/backupInstances/mlrun"
        self.binding = f"{self.cluster}/trustedAccessRoleBindings/backup"
        self.extension = f"{self.cluster}/providers/Microsoft.KubernetesConfiguration/extensions/backup"

    def prepare(self, without: str = "") -> None:
        if without != "binding":
            self.own.put(self.binding, {"properties": {"sourceResourceId": self.vault, "roles": [OPERATOR]}})
        if without == "extension":
            return
        writer = self._install()
        grants = {
            "cluster": (self.principal, READER, self.cluster),
            "group": (self.principal, READER, self.snapshots),
            "snapshots": (self.own.principal(self.own.identity), CONTRIBUTOR, self.snapshots),
            "objects": (writer, BLOBS, self.account),
        }
        for name, (who, role, scope) in grants.items():
            if name != without:
                self._grant(who, role, scope)

    def _install(self) -> str:
        location, words = "configuration.backupStorageLocation.config", self.account.split("/")
        settings = {
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

    def _grant(self, who: str, role: str, scope: str) -> None:
        definition = (
            f"{self.own.group.partition('/resourceGroups')[0]}/providers/Microsoft.Authorization/roleDefinitions"
        )
        given = {"principalId": who, "principalType": "ServicePrincipal", "roleDefinitionId": f"{definition}/{role}"}
        name = f"{unique('99999999-0000-4000-8000-')[:36]:0<36}"
        self.own.put(f"{scope}/providers/Microsoft.Authorization/roleAssignments/{name}", {"properties": given})

    def body(self) -> dict[str, Any]:
        return {"properties": instance_inputs(self.cluster, self.policy, self.snapshots)["properties"]}

    def run(self, moment: datetime) -> list[str]:
        """Make the backups that are due, and return those of this cluster: others are in the same Azure."""
        return [each for each in self.own.az.run_backups(moment) if each.startswith(self.id)]

    def points(self) -> list[dict[str, Any]]:
        return list(self.own.get(f"{self.id}/recoveryPoints")["value"])


@pytest.fixture
def backed(own: Account) -> Backed:
    return Backed(own)


@pytest.mark.parametrize(
    ("without", "code"),
    [
        ("binding", "UserErrorTrustedAccessNotEnabled"),
        ("extension", "UserErrorBackupExtensionNotFound"),
        *((name, "UserErrorMissingPermissions") for name in ("cluster", "group", "snapshots", "objects")),
    ],
)
def test_a_cluster_is_backed_up_only_with_everything_that_this_needs(backed: Backed, without: str, code: str) -> None:
    backed.prepare(without)
    assert backed.own.refused("PUT", backed.id, backed.body()).code == code


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


def test_a_cluster_has_one_policy_in_one_vault(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    other = deepcopy(backed.body())
    other["properties"]["policyInfo"]["policyId"] = f"{backed.vault}/backupPolicies/every-hour"
    backed.own.put(f"{backed.vault}/backupPolicies/every-hour", {"properties": rules("PT4H")})
    assert backed.own.refused("PUT", backed.id, other).code == "PropertyChangeNotAllowed"
    second = backed.own.refused("PUT", f"{backed.vault}/backupInstances/second", backed.body())
    assert second.code == "UserErrorDatasourceAlreadyProtected"
    assert backed.own.refused("PUT", backed.policy, {"properties": rules(days=90)}).code
    assert backed.own.refused("DELETE", backed.policy).code == "BadRequest"


def test_a_vault_stays_as_long_as_it_has_backups(backed: Backed) -> None:
    backed.prepare()
    backed.own.put(backed.id, backed.body())
    assert backed.own.refused("DELETE", backed.vault).code == "UserErrorVaultNotEmpty"
    backed.own.delete(backed.id)
    backed.own.delete(backed.vault)
