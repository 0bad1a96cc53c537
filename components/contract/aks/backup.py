"""Backups on AKS, by Azure Backup: its limits, its schedule, and the names of what it keeps."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Annotated, Final
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from components.contract.azure import account_tag_problems
from components.contract.backup import DAY_HOURS, Backup, Interval
from components.contract.choices import Explained, Findings
from components.contract.hours import CLOCK_CHANGES_OF, WEEKDAYS, OfficeHours

POINTS_MAX: Final = 450
"""Backups of a disk that Azure Backup keeps at a time: https://learn.microsoft.com/azure/backup/disk-backup-support-matrix.

That those of a cluster, which are snapshots of its disks, have the same limit is assumed.
"""

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
"""Day from which a policy counts its intervals; a constant, so that a run on another day is equal."""

VAULT: Final = "backup"
CONTAINER: Final = "cluster"
"""Names in the resource group of the backups, which has the cluster's."""

BINDING: Final = "backup"
"""At most 24 letters, digits or '-': hashicorp/terraform-provider-azurerm,
``internal/services/containers/kubernetes_cluster_trusted_access_role_binding_resource_test.go``."""

EXTENSION: Final = "azure-aks-backup"
"""Name under which Microsoft's own tools look for it: Azure/azure-cli-extensions, ``src/dataprotection``."""

_CONTAINERS: Final = "Microsoft.Storage/storageAccounts/blobServices/containers"
_ACTIONS: Final = ("read", "write", "delete", "add/action", "move/action")
"""Those of Storage Blob Data Contributor on blobs."""

ONE_CONTAINER: Final = (
    "(("
    + " AND ".join(f"!(ActionMatches{{'{_CONTAINERS}/blobs/{action}'}})" for action in _ACTIONS)
    + f") OR (@Resource[{_CONTAINERS}:name] StringEquals '{CONTAINER}'))"
)
"""Condition of a role on the account, on which Azure asks for it: blobs of the container only.

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
            limit = f"Azure Backup keeps {POINTS_MAX} backups of a disk"
            raise ValueError(f"must be at most {most} with every: {every}, because {limit}")
        return days


def require_possible(
    backup: AksBackup, location: str | None, hours: OfficeHours | None, tags: Mapping[str, str]
) -> None:
    """Refuse backups that Azure does not make of this cluster; what is None or empty is invalid or not given.

    Raises
    ------
    ValueError
        The region has no backups, the cluster is stopped when they begin, or has too many tags for their account.
    """
    findings = Findings()
    if location in WITHOUT_BACKUPS:
        findings.add(f"is impossible in {location}, where Azure makes no backups of AKS; remove it")
    if hours and (late := [hour for hour in backup.hours if not _is_within(hours, hour)]):
        when = ", ".join(f"{hour:02}:00" for hour in late)
        findings.add(
            f"would begin at {when} UTC, when officeHours have stopped the cluster, and Azure backs up a running one "
            "only; choose every: day and a startHour within the hours"
        )
    for problem in account_tag_problems(tags):
        findings.add(problem)
    findings.raise_if_any()


def schedule(backup: Backup) -> str:
    """Return when backups begin, in UTC, as Azure writes it: ISO 8601's repeating intervals."""
    return f"R/{SINCE}T{backup.start_hour:02}:00:00+00:00/{_DURATIONS[backup.every]}"


def policy_name(backup: Backup) -> str:
    """Return the name of a policy, which has all choices in it: another one is another policy.

    Azure takes no other policy for a cluster that it backs up, and no other content of that policy: the support matrix.
    """
    return f"every-{backup.every}-at-{backup.start_hour:02}-kept-{backup.keep_days}d"


def group_name(cluster: str) -> str:
    """Return the name, or with that the id, of the resource group of the backups, which outlives the cluster's."""
    return f"{cluster}-backup"


def account_name(group_id: str) -> str:
    """Return the name of the storage account of the backups in a resource group, unique in all of Azure.

    The name is derived, so that a run after a killed one finds the account again.
    """
    return f"backup{sha256(group_id.lower().encode()).hexdigest()[:_DIGITS]}"


def _is_within(hours: OfficeHours, hour: int) -> bool:
    """Return whether an hour in UTC is within the hours on each of their days, all year, since the clocks change."""
    first = datetime(CLOCK_CHANGES_OF, 1, 1, hour, tzinfo=UTC)
    moments = (first + timedelta(days=number) for number in range(365))
    return all(hours.is_open(each) for each in moments if _day(hours, each) in hours.days)


def _day(hours: OfficeHours, moment: datetime) -> str:
    return WEEKDAYS[moment.astimezone(ZoneInfo(hours.time_zone)).weekday()]


def _possible(backup: AksBackup | None, info: ValidationInfo) -> AksBackup | None:
    if backup:
        data = info.data
        require_possible(backup, data.get("location"), data.get("office_hours"), data.get("tags", {}))
    return backup


AksBackupChoice = Annotated[
    AksBackup | None,
    AfterValidator(_possible),
    Explained(
        "Only the owner of the data knows what a loss costs.",
        "A resource group with a vault of Azure Backup, an account for objects and the snapshots of disks; an "
        "extension in the cluster, and roles (docs/backup.md).",
    ),
    Field(
        description="Backups of the whole cluster. Fixed while there are backups.",
        examples=[{"every": "day", "keepDays": 35}],
    ),
]
"""The field ``backup`` of an AKS cluster."""
