"""AWS Backup: vaults, their locks, plans and selections. Sources: internal/service/backup/*.go."""

from dataclasses import replace
from typing import Final

from emulators.aws.resources.kinds import Change, DescribeCall, Kind, Removal, Tagging
from workbench.offline.aws.operations import OPERATIONS

_VAULT: Final = {"BackupVaultName": "{id}"}
_TAGGING: Final = Tagging("backup", "TagResource", "UntagResource", {"ResourceArn": "{arn}"}, "Tags", "TagKeyList")
_NO_VAULT: Final = frozenset({"AccessDeniedException", "ResourceNotFoundException"})

VAULT: Final = Kind(
    noun="Backup Vault",
    id="{name}",
    keys=_VAULT,
    look=DescribeCall("backup", "DescribeBackupVault", _VAULT, "@"),
    more={
        "tags": DescribeCall(
            "backup", "ListTags", {"ResourceArn": lambda keys: keys["found"]["BackupVaultArn"]}, "Tags"
        )
    },
    gone=_NO_VAULT,
    told={"name": "BackupVaultName", "kmsKeyArn": "EncryptionKeyArn"},
    # The deletion of all that is in it is not emulated: our program never asks for it.
    untold=frozenset({"forceDestroy"}),
    outputs={"arn": "BackupVaultArn", "recoveryPoints": "NumberOfRecoveryPoints"},
    tagging=_TAGGING,
    removal=Removal((("backup", "DeleteBackupVault", _VAULT),)),
)

_LOCKED: Final = {"BackupVaultName": "{backupVaultName}"}

VAULT_LOCK: Final = Kind(
    noun="Backup Vault Lock Configuration",
    id="{backupVaultName}",
    look=DescribeCall("backup", "DescribeBackupVault", _LOCKED, "@"),
    gone=_NO_VAULT,
    carried=frozenset({"changeableForDays"}),
    outputs={"backupVaultArn": "BackupVaultArn"},
    removal=Removal((("backup", "DeleteBackupVaultLockConfiguration", _LOCKED),)),
)

_PLAN: Final = {"BackupPlanId": "{id}"}
_DOCUMENT: Final = OPERATIONS["aws:backup/plan:Plan"][0]

PLAN: Final = Kind(
    noun="Backup Plan",
    made="BackupPlanId",
    keys=_PLAN,
    look=DescribeCall("backup", "GetBackupPlan", _PLAN, "@"),
    more={
        "tags": DescribeCall("backup", "ListTags", {"ResourceArn": lambda keys: keys["found"]["BackupPlanArn"]}, "Tags")
    },
    gone=frozenset({"ResourceNotFoundException"}),
    told={
        "name": "BackupPlan.BackupPlanName",
        "rules": "BackupPlan.Rules",
        "rules[].schedule": "ScheduleExpression",
        "rules[].startWindow": "StartWindowMinutes",
        "rules[].completionWindow": "CompletionWindowMinutes",
        "rules[].targetVaultName": "TargetBackupVaultName",
        "rules[].lifecycle.deleteAfter": "DeleteAfterDays",
        "rules[].lifecycle.coldStorageAfter": "MoveToColdStorageAfterDays",
    },
    outputs={"arn": "BackupPlanArn", "version": "VersionId"},
    # A document is replaced as a whole, with its name.
    changes=(Change(inputs=("rules", "name"), request=replace(_DOCUMENT, operation="UpdateBackupPlan")),),
    tagging=_TAGGING,
    removal=Removal((("backup", "DeleteBackupPlan", _PLAN),)),
)

_SELECTION: Final = {"BackupPlanId": "{planId}", "SelectionId": "{id}"}

SELECTION: Final = Kind(
    noun="Backup Selection",
    made="SelectionId",
    imported="{planId}|{id}",
    look=DescribeCall("backup", "GetBackupSelection", _SELECTION, "BackupSelection"),
    gone=frozenset({"ResourceNotFoundException"}),
    told={"name": "SelectionName"},
    untold=frozenset({"conditions", "notResources", "planId", "selectionTags"}),
    removal=Removal((("backup", "DeleteBackupSelection", _SELECTION),)),
)

KINDS: Final = {
    "aws:backup/plan:Plan": PLAN,
    "aws:backup/selection:Selection": SELECTION,
    "aws:backup/vault:Vault": VAULT,
    "aws:backup/vaultLockConfiguration:VaultLockConfiguration": VAULT_LOCK,
}
"""By type token."""
