"""What backs up a cluster on the Azure emulator, made through its provider."""

from typing import Any

from support.azure_resources import (
    ASSIGNMENT,
    BINDING,
    CONTAINER,
    EXTENSION,
    IDENTITY,
    IN_GROUP,
    INSTANCE,
    PLACE,
    POLICY,
    SUBSCRIPTION,
    VAULT,
    Stack,
)
from workbench.offline.provider import Existing

READER = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
BLOBS = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
TYPE = "Microsoft.ContainerService/managedClusters"


def rules(interval: str = "P1D", days: int = 35) -> dict[str, Any]:
    """Return the content of a policy."""
    store = {"dataStoreType": "OperationalStore", "objectType": "DataStoreInfoBase"}
    tag = {"isDefault": True, "taggingPriority": 99, "tagInfo": {"tagName": "Default"}}
    trigger = {
        "objectType": "ScheduleBasedTriggerContext",
        "schedule": {"repeatingTimeIntervals": [f"R/2026-01-01T02:00:00+00:00/{interval}"]},
        "taggingCriteria": [tag],
    }
    kept = {"deleteAfter": {"objectType": "AbsoluteDeleteOption", "duration": f"P{days}D"}, "sourceDataStore": store}
    return {
        "objectType": "BackupPolicy",
        "datasourceTypes": [TYPE],
        "policyRules": [
            {"objectType": "AzureBackupRule", "name": "BackupHourly", "dataStore": store, "trigger": trigger},
            {"objectType": "AzureRetentionRule", "name": "Default", "isDefault": True, "lifecycles": [kept]},
        ],
    }


def vault(stack: Stack) -> Existing:
    """Make a vault in a group that exists."""
    given = {
        "identity": {"type": "SystemAssigned"},
        "properties": {
            "securitySettings": {"softDeleteSettings": {"state": "On", "retentionDurationInDays": 14}},
            "storageSettings": [{"datastoreType": "VaultStore", "type": "LocallyRedundant"}],
        },
    }
    return stack.make(VAULT, "backup", vaultName="backup", **given, **IN_GROUP, **PLACE)


def policy(stack: Stack) -> Existing:
    """Make a policy in a vault that exists."""
    given = {"vaultName": "backup", "backupPolicyName": "every-day", "properties": rules()}
    return stack.make(POLICY, "every-day", **given, **IN_GROUP)


def container(stack: Stack) -> Existing:
    """Make an account with a container, in a group that exists."""
    stack.account(kind="StorageV2", sku={"name": "Standard_ZRS"})
    return stack.make(
        CONTAINER, "cluster", accountName="corpus", containerName="cluster", publicAccess="None", **IN_GROUP
    )


def extension(stack: Stack) -> Existing:
    """Install the extension in a cluster that exists."""
    location = "configuration.backupStorageLocation"
    settings = {
        f"{location}.bucket": "cluster",
        f"{location}.config.storageAccount": "corpus",
        f"{location}.config.resourceGroup": "dev",
        f"{location}.config.subscriptionId": SUBSCRIPTION,
    }
    given = {
        "extensionName": "azure-aks-backup",
        "extensionType": "microsoft.dataprotection.kubernetes",
        "scope": {"cluster": {"releaseNamespace": "dataprotection-microsoft"}},
        "configurationSettings": settings,
    }
    cluster = {
        "clusterRp": "Microsoft.ContainerService",
        "clusterResourceName": "managedClusters",
        "clusterName": "dev",
    }
    return stack.make(EXTENSION, "azure-aks-backup", **given, **cluster, **IN_GROUP)


def binding(stack: Stack, source: Existing) -> Existing:
    """Let a vault into a cluster that exists."""
    given = {"resourceName": "dev", "trustedAccessRoleBindingName": "backup", "sourceResourceId": source.id}
    operator = "Microsoft.DataProtection/backupVaults/backup-operator"
    return stack.make(BINDING, "backup", roles=[operator], **given, **IN_GROUP)


def instance_inputs(cluster: str, policy_id: str, group: str) -> dict[str, Any]:
    """Return the inputs of an instance that backs up a whole cluster, by their ids."""
    source = {
        "datasourceType": TYPE,
        "resourceID": cluster,
        "resourceLocation": "westeurope",
        "resourceName": "dev",
        "resourceType": TYPE,
        "resourceUri": cluster,
    }
    what = {"objectType": "KubernetesClusterBackupDatasourceParameters"}
    where = {"objectType": "AzureOperationalStoreParameters", "dataStoreType": "OperationalStore"}
    parameters = {
        "backupDatasourceParametersList": [{**what, "includeClusterScopeResources": True, "snapshotVolumes": True}],
        "dataStoreParametersList": [{**where, "resourceGroupId": group}],
    }
    properties = {
        "objectType": "BackupInstance",
        "friendlyName": "dev",
        "dataSourceInfo": {"objectType": "Datasource", **source},
        "dataSourceSetInfo": {"objectType": "DatasourceSet", **source},
        "policyInfo": {"policyId": policy_id, "policyParameters": parameters},
        "validationType": "DeepValidation",
    }
    return {"vaultName": "backup", "backupInstanceName": "dev", "properties": properties, **IN_GROUP}


def instance(stack: Stack) -> Existing:
    """Back up a cluster, with all that this needs."""
    cluster = stack.cluster()
    group = cluster.id.partition("/providers/")[0]
    identity = next(each for each in stack.made if each.type_ == IDENTITY)
    made, stored = vault(stack), container(stack)
    installed = extension(stack)
    account = stored.id.partition("/blobServices/")[0]
    principal = made.outputs["identity"]["principalId"]
    grants = (
        (principal, READER, cluster.id),
        (principal, READER, group),
        (identity.outputs["principalId"], CONTRIBUTOR, group),
        (installed.outputs["aksAssignedIdentity"]["principalId"], BLOBS, account),
    )
    for number, (who, role, scope) in enumerate(grants):
        stack.make(
            ASSIGNMENT,
            f"may-{number}",
            roleAssignmentName=f"5555555{number}-2222-3333-4444-555555555555",
            scope=scope,
            principalId=who,
            principalType="ServicePrincipal",
            roleDefinitionId=f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{role}",
        )
    binding(stack, made)
    return stack.make(INSTANCE, "dev", **instance_inputs(cluster.id, policy(stack).id, group))
