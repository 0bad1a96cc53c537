"""Backups on AKS, by Azure Backup: its limits, its schedule, and the names of what it keeps."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Annotated, Any, Final
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.aks.http_proxy import is_excepted
from components.contract.azure import account_tag_problems
from components.contract.backup import DAY_HOURS, Backup, Interval
from components.contract.choices import Explained, Findings
from components.contract.hours import CLOCK_CHANGES_OF, WEEKDAYS, OfficeHours

SNAPSHOTS_MAX: Final = 500
"""Snapshots of a disk at a time, also those of other tools.

https://learn.microsoft.com/azure/backup/azure-kubernetes-service-backup-troubleshoot#usererrorpvsnapshotlimitreached
"""

POINTS_MAX: Final = SNAPSHOTS_MAX - 50
"""Backups of a cluster at a time, which leaves room for snapshots that are taken by hand or not deleted yet."""

HOURS: Final = 2
"""Hours within which a backup is done: the support matrix."""

WITHOUT_BACKUPS: Final = (
    *("austriaeast", "belgiumcentral", "chilecentral", "denmarkeast", "indonesiacentral", "malaysiawest"),
    *("mexicocentral", "newzealandnorth", "qatarcentral"),
)
"""Regions of ``LOCATIONS`` that the support matrix of AKS backups does not list, as of November 2026.

https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-support-matrix
"""

NAMESPACES_MAX: Final = 800
"""Maximum number of namespaces of a backup, and so of a restore: the support matrix."""

DATASOURCE: Final = "Microsoft.ContainerService/managedClusters"
STORE: Final = "OperationalStore"
"""Snapshots in a resource group of ours, and objects in a container: the tier in which backups can be hours apart."""

SINCE: Final = "2026-01-01"
"""Day from which a policy counts its intervals; a constant, so that the policy does not depend on the day of a run."""

VAULT: Final = "backup"
CONTAINER: Final = "cluster"
"""Names in the resource group of the backups."""

BINDING: Final = "backup"
"""Name of the role binding, at most 24 letters, digits or '-': hashicorp/terraform-provider-azurerm,
``internal/services/containers/kubernetes_cluster_trusted_access_role_binding_resource_test.go``."""

EXTENSION: Final = "azure-aks-backup"
"""Name that Microsoft's own tools expect: Azure/azure-cli-extensions, ``src/dataprotection``."""

_CONTAINERS: Final = "Microsoft.Storage/storageAccounts/blobServices/containers"
_ACTIONS: Final = ("read", "write", "delete", "add/action", "move/action")
"""Data actions of Storage Blob Data Contributor on blobs."""

ONE_CONTAINER: Final = (
    "(("
    + " AND ".join(f"!(ActionMatches{{'{_CONTAINERS}/blobs/{action}'}})" for action in _ACTIONS)
    + f") OR (@Resource[{_CONTAINERS}:name] StringEquals '{CONTAINER}'))"
)
"""Condition that limits a role to blobs of the container: Azure requires the role on the whole account.

azure-docs, ``articles/storage/blobs/storage-auth-abac-examples.md`` (2023).
"""

_DURATIONS: Final = {
    Interval.FOUR_HOURS: "PT4H",
    Interval.EIGHT_HOURS: "PT8H",
    Interval.TWELVE_HOURS: "PT12H",
    Interval.DAY: "P1D",
}
_DIGITS: Final = 12


class AksBackup(Backup):
    """Choices about the backups of an AKS cluster."""

    @field_validator("keep_days", mode="after")
    @classmethod
    def _few_enough(cls, days: int, info: ValidationInfo) -> int:
        every = info.data.get("every")
        most = POINTS_MAX * every.hours // DAY_HOURS if every else days
        if days > most:
            limit = f"a disk has at most {SNAPSHOTS_MAX} snapshots, of which {POINTS_MAX} are for backups"
            raise ValueError(f"must be at most {most} with every: {every}, because {limit}")
        return days


def schedule(backup: Backup) -> str:
    """Return when backups begin, in UTC, as Azure writes it: ISO 8601's repeating intervals."""
    return f"R/{SINCE}T{backup.start_hour:02}:00:00+00:00/{_DURATIONS[backup.every]}"


def policy_name(backup: Backup) -> str:
    """Return the name of a policy, which contains all choices, because Azure refuses to change a policy's content.

    https://github.com/MicrosoftDocs/azure-docs/issues/78532
    """
    return f"every-{backup.every}-at-{backup.start_hour:02}-kept-{backup.keep_days}d"


def group_name(cluster: str) -> str:
    """Return the name of the resource group of vault and account, or its id if ``cluster`` is an id.

    The group outlives the stack.
    """
    return f"{cluster}-backup"


def snapshots_name(cluster: str) -> str:
    """Return the name of the resource group of the snapshots of disks, or its id if ``cluster`` is an id.

    The control plane may do everything in it, so it contains nothing else. No backup instance can move to another one.
    """
    return f"{cluster}-snapshots"


def account_name(group_id: str) -> str:
    """Return the name of the storage account of the backups in a resource group, unique in all of Azure.

    The name is derived, so that a run after a killed one finds the account again.
    """
    return f"backup{sha256(group_id.lower().encode()).hexdigest()[:_DIGITS]}"


def account_host(group_id: str) -> str:
    """Return the host of that account's containers."""
    return f"{account_name(group_id)}.blob.core.windows.net"


def _is_within(hours: OfficeHours, hour: int) -> bool:
    """Return whether backups that begin at an hour in UTC are within office hours on each of their days, all year.

    The local time of the backups changes with daylight saving time.
    """
    first = datetime(CLOCK_CHANGES_OF, 1, 1, hour, tzinfo=UTC)
    starts = (first + timedelta(days=number) for number in range(365))
    return all(
        hours.is_open_between(start, start + timedelta(hours=HOURS))
        for start in starts
        if _day(hours, start) in hours.days
    )


def _day(hours: OfficeHours, moment: datetime) -> str:
    return WEEKDAYS[moment.astimezone(ZoneInfo(hours.time_zone)).weekday()]


def _possible(backup: AksBackup | None, info: ValidationInfo) -> AksBackup | None:
    findings = Findings()
    for problem in _problems(backup, info.data) if backup else ():
        findings.add(problem)
    findings.raise_if_any()
    return backup


def _problems(backup: AksBackup, data: Mapping[str, Any]) -> Iterator[str]:
    """Yield why Azure cannot make these backups of the cluster; ``data`` lacks invalid fields."""
    if (location := data.get("location")) in WITHOUT_BACKUPS:
        yield f"is impossible in {location}, where Azure makes no backups of AKS; remove it"
    hours = data.get("office_hours")
    if hours and (late := [hour for hour in backup.hours if not _is_within(hours, hour)]):
        when = ", ".join(f"{hour:02}:00" for hour in late)
        yield (
            f"would begin at {when} UTC and take up to {HOURS} hours, while officeHours keep the cluster stopped, "
            f"but Azure backs up running ones only; choose every: day and a startHour {HOURS} hours before their end"
        )
    yield from account_tag_problems(data.get("tags", {}))
    proxy, subscription, name = (data.get(key) for key in ("proxy", "subscription_id", "name"))
    if proxy and subscription and name:
        host = account_host(group_name(f"/subscriptions/{subscription}/resourceGroups/{name}"))
        if not is_excepted(proxy, host):
            # AKS sets the proxy in all pods, also in those of the extension.
            why = "whose address the account does not admit"
            yield f"would be written through the proxy, {why}; add {host} to proxy.except"


AksBackupChoice = Annotated[
    AksBackup | None,
    AfterValidator(_possible),
    Explained(
        "Only the owner of the data knows what a loss costs.",
        "A resource group with a vault of Azure Backup and an account for objects, another one for the snapshots of "
        "disks; an extension in the cluster, and roles (docs/backup.md).",
    ),
    Field(
        description="Backups of the whole cluster.",
        examples=[{"every": "day", "keepDays": 35}],
    ),
]
"""The field ``backup`` of an AKS cluster."""
