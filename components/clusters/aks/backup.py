"""Backups of the cluster by Azure Backup: a vault, a policy, storage for backups, and an extension that makes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_azure_native.containerservice import ManagedCluster, TrustedAccessRoleBinding
from pulumi_azure_native.dataprotection import (
    AzureOperationalStoreParametersArgs,
    BackupInstance,
    BackupInstanceArgs,
    BackupPolicy,
    BackupVault,
    BackupVaultArgs,
    DatasourceArgs,
    DatasourceSetArgs,
    DppIdentityDetailsArgs,
    KubernetesClusterBackupDatasourceParametersArgs,
    PolicyInfoArgs,
    PolicyParametersArgs,
    SecuritySettingsArgs,
    SoftDeleteSettingsArgs,
    StorageSettingArgs,
)
from pulumi_azure_native.kubernetesconfiguration import Extension, ScopeArgs, ScopeClusterArgs
from pulumi_azure_native.resources import ResourceGroup
from pulumi_azure_native.storage import BlobContainer, ResourceAccessRuleArgs, SkuArgs, StorageAccount

from components.base import PlatformComponent
from components.clusters.aks.backup_policy import policy_content
from components.clusters.aks.identity import READER, Grant, Principal, role_assignment
from components.clusters.aks.storage_account import protections
from components.contract.aks.access import PrincipalKind
from components.contract.aks.backup import (
    BINDING,
    CONTAINER,
    DATASOURCE,
    EXTENSION,
    ONE_CONTAINER,
    STORE,
    VAULT,
    AksBackup,
    account_host,
    account_name,
    group_name,
    policy_name,
    snapshots_name,
)
from components.contract.aks.config import AksConfig
from components.contract.aks.identity import BLOB_CONTRIBUTOR
from components.contract.azure import BACKUPS, AzureTag

CONTRIBUTOR: Final = "b24988ac-6180-42a0-ab88-20f7382dd24c"
"""https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-concept#required-roles-and-permissions."""

OPERATOR: Final = "Microsoft.DataProtection/backupVaults/backup-operator"
"""What the vault may do in the cluster: https://learn.microsoft.com/azure/aks/trusted-access-feature."""

NAMESPACE: Final = "dataprotection-microsoft"
"""Namespace of the extension's pods."""

SOFT_DELETE_DAYS: Final = 14
"""Days for which a deleted instance, but not its snapshots, can be restored: the minimum, which is free of charge."""

VALIDATION: Final = "DeepValidation"
"""Azure checks roles and extension before it creates an instance, and rejects one that would be in an error state.

Azure/azure-rest-api-specs, Microsoft.DataProtection 2025-01-01, ``dataprotection.json`` (``validationType``). Azure's
CLI requests the same check first: Azure/azure-cli-extensions, ``src/dataprotection/.../backup_instance.py``.
"""

_LOCATION: Final = "configuration.backupStorageLocation"


@dataclass(frozen=True, kw_only=True)
class ClusterBackupArgs:
    """Inputs of the backups of a cluster."""

    choices: AksConfig
    backup: AksBackup
    cluster: ManagedCluster
    control_plane: pulumi.Input[str]
    """Object id of the control plane's identity, which takes the snapshots."""
    tags: dict[str, str]


class ClusterBackup(PlatformComponent):
    """A resource group with the vault and the account for objects, and another one for the snapshots of disks.

    Both stay when the stack is destroyed, because their backups may be all that is left. They are not in the cluster's
    own group, because a vault would block its deletion: Azure keeps deleted instances for two weeks, and with them the
    vault. Snapshots have a group of their own, because the control plane must be Contributor there: in a shared group,
    an attacker with its identity could delete the vault too.
    """

    facts: Mapping[str, pulumi.Input[str]]
    """What a restore needs."""

    def __init__(self, name: str, args: ClusterBackupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksBackup", name, None, opts)
        self._name, self._args = name, args
        self._tags = {**args.tags, AzureTag.PURPOSE.value: BACKUPS}
        self._group_id = group_name(args.choices.group_id)
        self._snapshots_id = snapshots_name(args.choices.group_id)
        self._group = self._kept_group("group", group_name(args.choices.resource_group)).name
        snapshots = self._kept_group("snapshots", snapshots_name(args.choices.resource_group))
        vault = self._vault()
        extension = self._extension(self._account(vault))
        needed = [self._binding(vault, extension), *self._rights(vault, extension, snapshots)]
        instance = self._instance(vault, self._policy(vault), needed)
        self.facts = {"vaultId": vault.id, "instanceId": instance.id}
        self.register_outputs({"vaultId": vault.id})

    def _kept_group(self, part: str, name: str) -> ResourceGroup:
        return ResourceGroup(
            f"{self._name}-{part}",
            resource_group_name=name,
            location=self._args.choices.location,
            tags=self._tags,
            opts=self._kept(),
        )

    def _kept(self, **options: Any) -> pulumi.ResourceOptions:
        return self.child(retain_on_delete=True, **options)

    def _with_cluster(self, **options: Any) -> pulumi.ResourceOptions:
        # Azure removes it together with its cluster; the next cluster may have the same id.
        return self.child(replace_with=[self._args.cluster], delete_before_replace=True, **options)

    def _in_cluster(self, *needed: pulumi.Resource) -> pulumi.ResourceOptions:
        return self._with_cluster(deleted_with=self._args.cluster, depends_on=list(needed))

    def _vault(self) -> BackupVault:
        return BackupVault(
            self._name,
            resource_group_name=self._group,
            vault_name=VAULT,
            location=self._args.choices.location,
            identity=DppIdentityDetailsArgs(type="SystemAssigned"),
            properties=BackupVaultArgs(
                security_settings=SecuritySettingsArgs(
                    soft_delete_settings=SoftDeleteSettingsArgs(state="On", retention_duration_in_days=SOFT_DELETE_DAYS)
                ),
                # Required but unused: backups are in the operational store.
                storage_settings=[StorageSettingArgs(datastore_type="VaultStore", type="LocallyRedundant")],
            ),
            tags=self._tags,
            opts=self._kept(),
        )

    def _account(self, vault: BackupVault) -> tuple[StorageAccount, BlobContainer]:
        choices = self._args.choices
        account = StorageAccount(
            self._name,
            resource_group_name=self._group,
            account_name=account_name(self._group_id),
            location=choices.location,
            kind="StorageV2",
            sku=SkuArgs(name="Standard_ZRS"),
            tags=self._tags,
            # It holds Secrets. The extension's pods write and read it, from the nodes' subnet; the vault needs access
            # too: https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-concept.
            **protections(
                choices, "AzureServices", ResourceAccessRuleArgs(tenant_id=choices.tenant_id, resource_id=vault.id)
            ),
            opts=self._kept(),
        )
        container = BlobContainer(
            self._name,
            resource_group_name=self._group,
            account_name=account.name,
            container_name=CONTAINER,
            public_access="None",
            opts=self._kept(),
        )
        return account, container

    def _extension(self, stored: tuple[StorageAccount, BlobContainer]) -> Extension:
        choices, (account, container) = self._args.choices, stored
        return Extension(
            f"{self._name}-extension",
            resource_group_name=choices.resource_group,
            cluster_rp="Microsoft.ContainerService",
            cluster_resource_name="managedClusters",
            cluster_name=choices.name,
            extension_name=EXTENSION,
            extension_type="microsoft.dataprotection.kubernetes",
            auto_upgrade_minor_version=True,
            release_train="stable",
            scope=ScopeArgs(cluster=ScopeClusterArgs(release_namespace=NAMESPACE)),
            configuration_settings={
                f"{_LOCATION}.bucket": container.name,
                f"{_LOCATION}.config.storageAccount": account.name,
                f"{_LOCATION}.config.resourceGroup": self._group,
                f"{_LOCATION}.config.subscriptionId": choices.subscription_id,
                f"{_LOCATION}.config.useAAD": "true",
                f"{_LOCATION}.config.storageAccountURI": f"https://{account_host(self._group_id)}/",
                "credentials.tenantId": choices.tenant_id,
            },
            opts=self._in_cluster(),
        )

    def _binding(self, vault: BackupVault, extension: Extension) -> pulumi.Resource:
        choices = self._args.choices
        binding: pulumi.Resource = TrustedAccessRoleBinding(
            f"{self._name}-access",
            resource_group_name=choices.resource_group,
            resource_name_=choices.name,
            trusted_access_role_binding_name=BINDING,
            source_resource_id=vault.id,
            roles=[OPERATOR],
            # The first extension of a cluster and a binding both change the cluster, so one waits for the other.
            opts=self._in_cluster(extension),
        )
        return binding

    def _rights(self, vault: BackupVault, extension: Extension, snapshots: ResourceGroup) -> Iterator[pulumi.Resource]:
        """Assign the roles that Azure requires for snapshots, but not those for the vault tier.

        https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-concept#required-roles-and-permissions.
        For that tier, Azure's CLI also assigns the vault Disk Snapshot Contributor and Storage Blob Data Reader.
        """
        choices, service = self._args.choices, PrincipalKind.SERVICE_PRINCIPAL
        operator = Principal("backup-vault", vault.identity.apply(_principal), service)
        # Role assignments are not kept: a later stack could not adopt one before it knows the principal.
        reader = Grant(READER, self._snapshots_id)
        yield role_assignment(f"{self._name}-vault", operator, reader, self.child(depends_on=[snapshots]))
        yield role_assignment(
            f"{self._name}-vault-cluster", operator, Grant(READER, choices.cluster_id), self._with_cluster()
        )
        maker = Principal("control-plane", self._args.control_plane, service)
        contributor = Grant(CONTRIBUTOR, self._snapshots_id)
        yield role_assignment(f"{self._name}-snapshots", maker, contributor, self.child(depends_on=[snapshots]))
        account = f"{self._group_id}/providers/Microsoft.Storage/storageAccounts/{account_name(self._group_id)}"
        # The role without keys: Azure/azure-cli-extensions, ``src/k8s-extension/.../DataProtectionKubernetes.py``.
        writer = Principal("backup-extension", extension.aks_assigned_identity.apply(_principal), service)
        yield role_assignment(
            f"{self._name}-objects", writer, Grant(BLOB_CONTRIBUTOR, account, ONE_CONTAINER), self.child()
        )

    def _policy(self, vault: BackupVault) -> BackupPolicy:
        backup = self._args.backup
        return BackupPolicy(
            self._name,
            resource_group_name=self._group,
            vault_name=vault.name,
            backup_policy_name=policy_name(backup),
            properties=policy_content(backup),
            # Azure does not change policies: a new one is created before the cluster leaves the old one, which stays.
            opts=self._kept(delete_before_replace=False),
        )

    def _instance(self, vault: BackupVault, policy: BackupPolicy, needed: list[pulumi.Resource]) -> BackupInstance:
        choices = self._args.choices
        source = {
            "datasource_type": DATASOURCE,
            "resource_id": choices.cluster_id,
            "resource_location": choices.location,
            "resource_name": choices.name,
            "resource_type": DATASOURCE,
            "resource_uri": choices.cluster_id,
        }
        return BackupInstance(
            self._name,
            resource_group_name=self._group,
            vault_name=vault.name,
            backup_instance_name=choices.name,
            properties=BackupInstanceArgs(
                object_type="BackupInstance",
                friendly_name=choices.name,
                validation_type=VALIDATION,
                data_source_info=DatasourceArgs(object_type="Datasource", **source),
                data_source_set_info=DatasourceSetArgs(object_type="DatasourceSet", **source),
                policy_info=PolicyInfoArgs(
                    policy_id=policy.id,
                    policy_parameters=PolicyParametersArgs(
                        backup_datasource_parameters_list=[
                            KubernetesClusterBackupDatasourceParametersArgs(
                                object_type="KubernetesClusterBackupDatasourceParameters",
                                include_cluster_scope_resources=True,
                                snapshot_volumes=True,
                            )
                        ],
                        data_store_parameters_list=[
                            AzureOperationalStoreParametersArgs(
                                object_type="AzureOperationalStoreParameters",
                                data_store_type=STORE,
                                resource_group_id=self._snapshots_id,
                            )
                        ],
                    ),
                ),
            ),
            opts=self._kept(depends_on=needed),
        )


def _principal(identity: Any) -> str:
    """Return the object id of an identity that Azure creates; empty in a preview that does not know it yet."""
    return str(identity.principal_id or "") if identity else ""
