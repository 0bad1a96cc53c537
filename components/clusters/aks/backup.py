"""Backups of the cluster by Azure Backup: a vault, a policy, a place for backups, and an extension that makes them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_azure_native.containerservice import ManagedCluster, TrustedAccessRoleBinding
from pulumi_azure_native.dataprotection import (
    AbsoluteDeleteOptionArgs,
    AzureBackupParamsArgs,
    AzureBackupRuleArgs,
    AzureOperationalStoreParametersArgs,
    AzureRetentionRuleArgs,
    BackupInstance,
    BackupInstanceArgs,
    BackupPolicy,
    BackupPolicyArgs,
    BackupScheduleArgs,
    BackupVault,
    BackupVaultArgs,
    DatasourceArgs,
    DatasourceSetArgs,
    DataStoreInfoBaseArgs,
    DppIdentityDetailsArgs,
    KubernetesClusterBackupDatasourceParametersArgs,
    PolicyInfoArgs,
    PolicyParametersArgs,
    RetentionTagArgs,
    ScheduleBasedTriggerContextArgs,
    SecuritySettingsArgs,
    SoftDeleteSettingsArgs,
    SourceLifeCycleArgs,
    StorageSettingArgs,
    TaggingCriteriaArgs,
)
from pulumi_azure_native.kubernetesconfiguration import Extension, ScopeArgs, ScopeClusterArgs
from pulumi_azure_native.resources import ResourceGroup
from pulumi_azure_native.storage import (
    BlobContainer,
    NetworkRuleSetArgs,
    SkuArgs,
    StorageAccount,
    VirtualNetworkRuleArgs,
)

from components.base import PlatformComponent
from components.clusters.aks.identity import READER, Grant, Principal, role_assignment
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
    account_name,
    group_name,
    policy_name,
    schedule,
)
from components.contract.aks.config import AksConfig
from components.contract.azure import BACKUPS, AzureTag

CONTRIBUTOR: Final = "b24988ac-6180-42a0-ab88-20f7382dd24c"
BLOB_CONTRIBUTOR: Final = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
"""https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-concept#required-roles-and-permissions,
Azure/azure-cli-extensions ``src/k8s-extension/.../DataProtectionKubernetes.py`` (the role without keys of the account).
"""

OPERATOR: Final = "Microsoft.DataProtection/backupVaults/backup-operator"
"""What the vault may do in the cluster: https://learn.microsoft.com/azure/aks/trusted-access-feature."""

NAMESPACE: Final = "dataprotection-microsoft"
"""Where the extension's pods are."""

SOFT_DELETE_DAYS: Final = 14
"""Days for which a backup that somebody deleted can be brought back: the fewest, and free of charge."""

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
    """A resource group of its own with the vault, the account for objects, and the snapshots of disks.

    It stays when the stack goes, because its backups may be all that is left. In the cluster's own group it would keep
    that from being deleted: Azure keeps what is deleted of a vault for two weeks, and with it the vault.
    """

    facts: Mapping[str, pulumi.Input[str]]
    """What a restore needs."""

    def __init__(self, name: str, args: ClusterBackupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksBackup", name, None, opts)
        self._name, self._args = name, args
        self._tags = {**args.tags, AzureTag.PURPOSE.value: BACKUPS}
        self._group_id = group_name(args.choices.group_id)
        group = ResourceGroup(
            f"{name}-group",
            resource_group_name=group_name(args.choices.resource_group),
            location=args.choices.location,
            tags=self._tags,
            opts=self._kept(),
        )
        self._group = group.name
        vault = self._vault()
        extension = self._extension(self._account())
        needed = [self._binding(vault), *self._rights(vault, extension)]
        instance = self._instance(vault, self._policy(vault), needed)
        self.facts = {"vaultId": vault.id, "instanceId": instance.id}
        self.register_outputs({"vaultId": vault.id})

    def _kept(self, **options: object) -> pulumi.ResourceOptions:
        return self.child(retain_on_delete=True, **options)

    def _with_cluster(self) -> pulumi.ResourceOptions:
        # Azure removes it with the cluster that it is for; the next one may have the same id.
        return self.child(replace_with=[self._args.cluster], delete_before_replace=True)

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
                # Required, and unused: backups are in the operational store.
                storage_settings=[StorageSettingArgs(datastore_type="VaultStore", type="LocallyRedundant")],
            ),
            tags=self._tags,
            opts=self._kept(),
        )

    def _account(self) -> tuple[StorageAccount, BlobContainer]:
        choices = self._args.choices
        account = StorageAccount(
            self._name,
            resource_group_name=self._group,
            account_name=account_name(self._group_id),
            location=choices.location,
            kind="StorageV2",
            sku=SkuArgs(name="Standard_ZRS"),
            enable_https_traffic_only=True,
            minimum_tls_version="TLS1_2",
            allow_shared_key_access=False,
            allow_blob_public_access=False,
            allow_cross_tenant_replication=False,
            # It holds Secrets. The extension's pods alone write and read it, from the nodes' subnet.
            network_rule_set=NetworkRuleSetArgs(
                default_action="Deny",
                bypass="AzureServices",
                virtual_network_rules=[VirtualNetworkRuleArgs(virtual_network_resource_id=choices.node_subnet_id)],
            ),
            tags=self._tags,
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
                f"{_LOCATION}.config.storageAccountURI": f"https://{account_name(self._group_id)}.blob.core.windows.net/",
                "credentials.tenantId": choices.tenant_id,
            },
            opts=self._with_cluster(),
        )

    def _binding(self, vault: BackupVault) -> pulumi.Resource:
        choices = self._args.choices
        binding: pulumi.Resource = TrustedAccessRoleBinding(
            f"{self._name}-access",
            resource_group_name=choices.resource_group,
            resource_name_=choices.name,
            trusted_access_role_binding_name=BINDING,
            source_resource_id=vault.id,
            roles=[OPERATOR],
            opts=self._with_cluster(),
        )
        return binding

    def _rights(self, vault: BackupVault, extension: Extension) -> Iterator[pulumi.Resource]:
        """Assign what Azure's own command for AKS assigns, and nothing of what the tier of the vault would need.

        Azure/azure-cli-extensions, ``src/dataprotection/.../Manifests/AzureKubernetesService.py``.
        """
        choices, service = self._args.choices, PrincipalKind.SERVICE_PRINCIPAL
        operator = Principal("backup-vault", vault.identity.apply(_principal), service)
        yield role_assignment(f"{self._name}-vault", operator, Grant(READER, self._group_id), self._kept())
        yield role_assignment(
            f"{self._name}-vault-cluster", operator, Grant(READER, choices.cluster_id), self._with_cluster()
        )
        snapshots = Principal("control-plane", self._args.control_plane, service)
        yield role_assignment(
            f"{self._name}-snapshots", snapshots, Grant(CONTRIBUTOR, self._group_id), self.child(depends_on=[vault])
        )
        account = f"{self._group_id}/providers/Microsoft.Storage/storageAccounts/{account_name(self._group_id)}"
        writer = Principal("backup-extension", extension.aks_assigned_identity.apply(_principal), service)
        yield role_assignment(
            f"{self._name}-objects", writer, Grant(BLOB_CONTRIBUTOR, account, ONE_CONTAINER), self.child()
        )

    def _policy(self, vault: BackupVault) -> BackupPolicy:
        backup = self._args.backup
        store = DataStoreInfoBaseArgs(data_store_type=STORE, object_type="DataStoreInfoBase")
        default = TaggingCriteriaArgs(
            is_default=True, tagging_priority=99, tag_info=RetentionTagArgs(tag_name="Default")
        )
        return BackupPolicy(
            self._name,
            resource_group_name=self._group,
            vault_name=vault.name,
            backup_policy_name=policy_name(backup),
            properties=BackupPolicyArgs(
                object_type="BackupPolicy",
                datasource_types=[DATASOURCE],
                policy_rules=[
                    AzureBackupRuleArgs(
                        object_type="AzureBackupRule",
                        name="BackupHourly",
                        backup_parameters=AzureBackupParamsArgs(
                            object_type="AzureBackupParams", backup_type="Incremental"
                        ),
                        data_store=store,
                        trigger=ScheduleBasedTriggerContextArgs(
                            object_type="ScheduleBasedTriggerContext",
                            schedule=BackupScheduleArgs(repeating_time_intervals=[schedule(backup)]),
                            tagging_criteria=[default],
                        ),
                    ),
                    AzureRetentionRuleArgs(
                        object_type="AzureRetentionRule",
                        name="Default",
                        is_default=True,
                        lifecycles=[
                            SourceLifeCycleArgs(
                                source_data_store=store,
                                delete_after=AbsoluteDeleteOptionArgs(
                                    object_type="AbsoluteDeleteOption", duration=f"P{backup.keep_days}D"
                                ),
                            )
                        ],
                    ),
                ],
            ),
            opts=self._kept(),
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
                                resource_group_id=self._group_id,
                            )
                        ],
                    ),
                ),
            ),
            opts=self._kept(depends_on=needed),
        )


def _principal(identity: Any) -> str:
    """Return the object id of an identity that Azure makes; empty while a preview does not know it."""
    return str(identity.principal_id or "") if identity else ""
