from functools import cache
from typing import Any

import pytest

from components.contract.aks.backup import account_name
from support.aks import AGENT_POOL, CLUSTER, SUBNET, SUBNET_ID, build, built
from support.recorder import Recorder

GROUP = "azure-native:resources:ResourceGroup"
VAULT = "azure-native:dataprotection:BackupVault"
POLICY = "azure-native:dataprotection:BackupPolicy"
INSTANCE = "azure-native:dataprotection:BackupInstance"
EXTENSION = "azure-native:kubernetesconfiguration:Extension"
BINDING = "azure-native:containerservice:TrustedAccessRoleBinding"
ACCOUNT = "azure-native:storage:StorageAccount"
CONTAINER = "azure-native:storage:BlobContainer"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
NAME = "test-backup"
SUBSCRIPTION = "/subscriptions/00000000-0000-0000-0000-000000000000"
GROUP_ID = f"{SUBSCRIPTION}/resourceGroups/research-backup"
SNAPSHOTS_ID = f"{SUBSCRIPTION}/resourceGroups/research-snapshots"
CLUSTER_ID = f"{SUBSCRIPTION}/resourceGroups/research/providers/Microsoft.ContainerService/managedClusters/research"


@cache
def backed_up() -> Recorder:
    return build({"cluster.backup": {}})


def rules_of(recorder: Recorder) -> tuple[dict[str, Any], dict[str, Any]]:
    made, kept = recorder.of_type(POLICY)[NAME]["properties"]["policyRules"]
    return made, kept


def test_without_the_key_nothing_of_azure_backup_is_made() -> None:
    made = [each.type for each in built().resources]
    assert not [type_ for type_ in made if "dataprotection" in type_ or "kubernetesconfiguration" in type_]
    assert "backup" not in built().exports["cluster"]
    assert "serviceEndpoints" not in built().of_type(SUBNET)["test-network-nodes"]


@pytest.mark.parametrize(
    ("choices", "schedule", "duration", "policy"),
    [
        ({}, "R/2026-01-01T02:00:00+00:00/P1D", "P35D", "every-day-at-02-kept-35d"),
        (
            {"every": "12h", "startHour": 20, "keepDays": 90},
            "R/2026-01-01T20:00:00+00:00/PT12H",
            "P90D",
            "every-12h-at-20-kept-90d",
        ),
    ],
)
def test_backups_are_taken_and_kept_as_the_stack_file_says(
    choices: dict[str, Any], schedule: str, duration: str, policy: str
) -> None:
    recorder = build({"cluster.backup": choices})
    made, kept = rules_of(recorder)
    assert made["trigger"]["schedule"]["repeatingTimeIntervals"] == [schedule]
    assert kept["lifecycles"][0]["deleteAfter"]["duration"] == duration
    assert {made["dataStore"]["dataStoreType"], kept["lifecycles"][0]["sourceDataStore"]["dataStoreType"]} == {
        "OperationalStore"
    }
    assert recorder.of_type(POLICY)[NAME]["backupPolicyName"] == policy


def test_another_policy_is_there_before_the_cluster_leaves_the_old_one() -> None:
    options = backed_up().options[POLICY, NAME]
    assert (options.delete_before_replace, options.retain_on_delete) == (False, True)


def test_azure_checks_what_a_backup_needs_before_it_makes_an_instance() -> None:
    assert backed_up().of_type(INSTANCE)[NAME]["properties"]["validationType"] == "DeepValidation"


def test_the_whole_cluster_is_backed_up_into_the_group_of_the_snapshots() -> None:
    instance = backed_up().of_type(INSTANCE)[NAME]["properties"]
    assert instance["dataSourceInfo"]["resourceID"] == CLUSTER_ID
    (store,) = instance["policyInfo"]["policyParameters"]["dataStoreParametersList"]
    assert store["resourceGroupId"] == SNAPSHOTS_ID
    (what,) = instance["policyInfo"]["policyParameters"]["backupDatasourceParametersList"]
    assert what["includeClusterScopeResources"] is what["snapshotVolumes"] is True
    assert not [name for name in what if name.startswith(("included", "excluded"))]


def test_all_that_backups_need_outlives_the_stack_and_says_so() -> None:
    made = backed_up()
    kept = {key for key, options in made.options.items() if options.retain_on_delete and key[0] != AGENT_POOL}
    names = {(type_, NAME) for type_ in (VAULT, POLICY, INSTANCE, ACCOUNT, CONTAINER)}
    groups = {(GROUP, f"{NAME}-group"), (GROUP, f"{NAME}-snapshots")}
    assert kept == names | groups
    for type_, name in (*groups, (VAULT, NAME), (ACCOUNT, NAME)):
        assert made.of_type(type_)[name]["tags"]["igz-clusters-purpose"] == "backups"


def test_a_deleted_instance_can_be_brought_back() -> None:
    settings = backed_up().of_type(VAULT)[NAME]["properties"]["securitySettings"]
    assert settings["softDeleteSettings"] == {"state": "On", "retentionDurationInDays": 14}


def test_the_account_has_no_keys_and_lets_in_the_nodes_subnet_and_the_vault_alone() -> None:
    account = backed_up().of_type(ACCOUNT)[NAME]
    assert (account["kind"], account["sku"]) == ("StorageV2", {"name": "Standard_ZRS"})
    assert account["allowSharedKeyAccess"] is account["allowBlobPublicAccess"] is False
    assert account["networkRuleSet"]["defaultAction"] == "Deny"
    assert [each["virtualNetworkResourceId"] for each in account["networkRuleSet"]["virtualNetworkRules"]] == [
        SUBNET_ID
    ]
    (vault,) = account["networkRuleSet"]["resourceAccessRules"]
    assert vault == {"resourceId": f"{NAME}-id", "tenantId": "99999999-9999-9999-9999-999999999999"}
    assert backed_up().of_type(SUBNET)["test-network-nodes"]["serviceEndpoints"] == [{"service": "Microsoft.Storage"}]
    assert backed_up().of_type(CONTAINER)[NAME]["publicAccess"] == "None"


def test_the_extension_writes_with_its_identity_into_that_account() -> None:
    settings = backed_up().of_type(EXTENSION)[f"{NAME}-extension"]["configurationSettings"]
    location = "configuration.backupStorageLocation"
    assert settings[f"{location}.config.useAAD"] == "true"
    assert (
        settings[f"{location}.config.storageAccountURI"] == f"https://{account_name(GROUP_ID)}.blob.core.windows.net/"
    )
    assert settings[f"{location}.config.resourceGroup"] == f"{NAME}-group-name"


def test_each_identity_has_the_least_role() -> None:
    reader, contributor, blobs = (
        "acdd72a7-3385-48ef-bd42-f606fba81ae7",
        "b24988ac-6180-42a0-ab88-20f7382dd24c",
        "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    )
    account = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/{account_name(GROUP_ID)}"
    made = {
        name.removeprefix(f"{NAME}-"): (each["roleDefinitionId"].rpartition("/")[2], each["scope"], each["principalId"])
        for name, each in backed_up().of_type(ASSIGNMENT).items()
        if name.startswith(NAME)
    }
    assert made == {
        "vault": (reader, SNAPSHOTS_ID, f"{NAME}-principal"),
        "vault-cluster": (reader, CLUSTER_ID, f"{NAME}-principal"),
        "snapshots": (contributor, SNAPSHOTS_ID, "test-identities-control-plane-principal"),
        "objects": (blobs, account, f"{NAME}-extension-principal"),
    }


def test_the_vault_enters_the_cluster_as_an_operator_of_backups() -> None:
    binding = backed_up().of_type(BINDING)[f"{NAME}-access"]
    assert binding["roles"] == ["Microsoft.DataProtection/backupVaults/backup-operator"]
    assert len(binding["trustedAccessRoleBindingName"]) <= 24
    assert (EXTENSION, f"{NAME}-extension") in backed_up().needs((BINDING, f"{NAME}-access"))


def test_extension_and_binding_go_with_the_cluster() -> None:
    for key in ((EXTENSION, f"{NAME}-extension"), (BINDING, f"{NAME}-access")):
        options, cluster = backed_up().options[key], (CLUSTER, "test-cluster")
        assert (options.deleted_with, options.replaced_with) == (cluster, (cluster,))


def test_backups_begin_once_everything_they_need_is_there_and_go_before_the_cluster() -> None:
    needed = backed_up().needs((INSTANCE, NAME))
    assert {(BINDING, f"{NAME}-access"), (EXTENSION, f"{NAME}-extension"), (CLUSTER, "test-cluster")} <= needed
    assert {(ASSIGNMENT, f"{NAME}-{role}") for role in ("vault", "vault-cluster", "snapshots", "objects")} <= needed


def test_the_outputs_say_where_backups_are() -> None:
    assert backed_up().exports["cluster"]["backup"].keys() == {"vaultId", "instanceId"}
