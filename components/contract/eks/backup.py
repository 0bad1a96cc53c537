"""Backups on EKS, by AWS Backup."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo

from components.contract.aws import KeyArn, key_region
from components.contract.backup import Backup
from components.contract.choices import Explained, Findings
from components.contract.eks.values import other_account

SERVICE: Final = "backup.amazonaws.com"
"""Service that assumes both roles."""

NAMESPACES_MAX: Final = 5
"""Maximum number of namespaces of one restore: https://docs.aws.amazon.com/aws-backup/latest/devguide/restoring-eks.html."""

START_WINDOW: Final = 60
"""Minutes after its hour within which a backup begins; AWS cancels one that has not begun by then."""

COMPLETION_WINDOW: Final = 7 * 24 * 60
"""Minutes in which a backup ends: AWS's own default. The first backup of a large volume takes many hours.

https://docs.aws.amazon.com/aws-backup/latest/devguide/API_BackupRule.html
"""


class EksBackup(Backup):
    """Choices about the backups of an EKS cluster."""

    lock: Annotated[
        bool,
        Explained(
            "A locked backup costs until it expires, needed or not.",
            "Whether a backup can be deleted early: a vault lock in governance mode.",
        ),
    ] = Field(
        default=False,
        strict=True,
        description="Whether backups are locked until they expire. The lock stays if this is set back to false.",
        examples=[True],
    )
    key_arn: Annotated[
        KeyArn | None,
        Explained(
            "AWS's own key aws/backup cannot be deleted.",
            "The key of backed-up objects and files. Snapshots of volumes have the key of their volume.",
        ),
    ] = Field(
        None,
        description="ARN of the vault's KMS key. A change creates another vault and keeps the old one.",
        examples=["arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"],
    )


def schedule(backup: Backup) -> str:
    """Return when backups begin, in UTC, as AWS writes it.

    https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#cron-based
    """
    return f"cron(0 {','.join(map(str, backup.hours))} ? * * *)"


def _with_a_key_of_the_cluster(backup: EksBackup | None, info: ValidationInfo) -> EksBackup | None:
    findings, arn, region = Findings(), backup.key_arn if backup else None, info.data.get("region")
    if arn and region and key_region(arn) != region:
        where = f"is a key in {key_region(arn)}, but the cluster is in {region}; use a key of that region"
        findings.add(where, "keyArn", given=arn)
    if arn and (problem := other_account(arn, info)):
        findings.add(problem, "keyArn", given=arn)
    findings.raise_if_any()
    return backup


EksBackupChoice = Annotated[
    EksBackup | None,
    AfterValidator(_with_a_key_of_the_cluster),
    Explained(
        "Only the owner of the data knows what a loss costs.",
        "A vault and a plan of AWS Backup for the cluster's objects and volumes, and its roles (docs/backup.md).",
    ),
    Field(description="Backups of the whole cluster.", examples=[{"every": "day", "keepDays": 35}]),
]
"""The field ``backup`` of an EKS cluster."""
