"""The policy of Azure Backup: when backups of a cluster are made, and how long they are kept."""

from pulumi_azure_native.dataprotection import (
    AbsoluteDeleteOptionArgs,
    AzureBackupParamsArgs,
    AzureBackupRuleArgs,
    AzureRetentionRuleArgs,
    BackupPolicyArgs,
    BackupScheduleArgs,
    DataStoreInfoBaseArgs,
    RetentionTagArgs,
    ScheduleBasedTriggerContextArgs,
    SourceLifeCycleArgs,
    TaggingCriteriaArgs,
)

from components.contract.aks.backup import DATASOURCE, STORE, AksBackup, schedule


def policy_content(backup: AksBackup) -> BackupPolicyArgs:
    """Return the content of a policy: one rule that makes backups, and one that keeps them."""
    store = DataStoreInfoBaseArgs(data_store_type=STORE, object_type="DataStoreInfoBase")
    return BackupPolicyArgs(
        object_type="BackupPolicy",
        datasource_types=[DATASOURCE],
        policy_rules=[_made(backup, store), _kept(backup, store)],
    )


def _made(backup: AksBackup, store: DataStoreInfoBaseArgs) -> AzureBackupRuleArgs:
    default = TaggingCriteriaArgs(is_default=True, tagging_priority=99, tag_info=RetentionTagArgs(tag_name="Default"))
    return AzureBackupRuleArgs(
        object_type="AzureBackupRule",
        name="BackupHourly",
        backup_parameters=AzureBackupParamsArgs(object_type="AzureBackupParams", backup_type="Incremental"),
        data_store=store,
        trigger=ScheduleBasedTriggerContextArgs(
            object_type="ScheduleBasedTriggerContext",
            schedule=BackupScheduleArgs(repeating_time_intervals=[schedule(backup)]),
            tagging_criteria=[default],
        ),
    )


def _kept(backup: AksBackup, store: DataStoreInfoBaseArgs) -> AzureRetentionRuleArgs:
    days = AbsoluteDeleteOptionArgs(object_type="AbsoluteDeleteOption", duration=f"P{backup.keep_days}D")
    return AzureRetentionRuleArgs(
        object_type="AzureRetentionRule",
        name="Default",
        is_default=True,
        lifecycles=[SourceLifeCycleArgs(source_data_store=store, delete_after=days)],
    )
