"""Finds vaults, plans and selections of AWS Backup, and what is in a vault."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from components.contract.aws import BACKUP_NAME_MAX
from components.contract.names import beginning
from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

MOVING: Final = frozenset({"CREATING"})


def vaults(account: AwsQueries) -> Iterator[LookupResult]:
    """Yield the vaults of the stack, and those left by earlier stacks of its name."""
    for found in account.listed("backup", "list_backup_vaults", "BackupVaultList"):
        # Listings lack tags, and accounts have many vaults; ours start with the stack's name.
        if found["BackupVaultName"].startswith(beginning(account.stack, BACKUP_NAME_MAX)):
            state = found.get("VaultState", "")
            tags = tags_of(account, found["BackupVaultArn"])
            name = found["BackupVaultName"]
            yield LookupResult(name, state, state in MOVING, tags, holds_data=True, inputs={"name": name})


def plans(account: AwsQueries) -> Iterator[tuple[str, LookupResult]]:
    """Yield the backup plans whose names begin with the stack's prefix, with their names."""
    for found in account.listed("backup", "list_backup_plans", "BackupPlansList"):
        if (name := found["BackupPlanName"]).startswith(beginning(account.stack, BACKUP_NAME_MAX)):
            tags = tags_of(account, found["BackupPlanArn"])
            yield name, LookupResult(found["BackupPlanId"], tags=tags, inputs={"name": name})


def tags_of(account: AwsQueries, arn: str) -> Mapping[str, str]:
    """Return the tags of a vault or a plan."""
    tags: Mapping[str, str] = account.look_up("backup", "list_tags", ResourceArn=arn).get("Tags") or {}
    return tags


def vault(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the vault of the queried name."""
    return [each for each in vaults(account) if query.is_called("name", each.id)]


def plan(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the plan of the queried name; AWS refuses a second one with the same content."""
    return [each for name, each in plans(account) if query.is_called("name", name)]


def selection(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the queried plan's selection of the queried name."""
    inside = query.inputs["planId"]
    found = account.listed("backup", "list_backup_selections", "BackupSelectionsList", BackupPlanId=inside)
    return [
        LookupResult(each["SelectionId"], inputs={"name": each["SelectionName"]})
        for each in found
        if query.is_called("name", each["SelectionName"])
    ]


def lock(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the lock of the queried vault, if it has one."""
    inside = query.inputs["backupVaultName"]
    # A description of a vault that does not exist is refused as if it belonged to another account.
    found = account.listed("backup", "list_backup_vaults", "BackupVaultList")
    return [LookupResult(inside) for each in found if each["BackupVaultName"] == inside and each.get("Locked")]


def kept_until(account: AwsQueries, vault_name: str) -> tuple[int, datetime | None]:
    """Return how many backups a vault holds, and when the last of them expires; None if one never does."""
    found = account.listed(
        "backup", "list_recovery_points_by_backup_vault", "RecoveryPoints", BackupVaultName=vault_name
    )
    ends: list[Any] = [(each.get("CalculatedLifecycle") or {}).get("DeleteAt") for each in found]
    return len(found), max(ends) if ends and all(ends) else None
