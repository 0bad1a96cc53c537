"""Backups of the stack's cluster in AWS Backup, and the commands that restore them.

https://docs.aws.amazon.com/aws-backup/latest/devguide/restoring-eks.html
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any, Final

from workbench.recovery.cloud.aws import backup
from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.recovery_point import RecoveryPoint
from workbench.recovery.cloud.restore_job import RestoreJob
from workbench.system.errors import UserError

VOLUME_TYPE: Final = "gp3"
"""EBS volume type of the stack's storage class; AWS's default is an older type."""


def recovery_points(account: AwsQueries) -> list[RecoveryPoint]:
    """Return the backups of the cluster, newest first, in all vaults of the stack, also those that a destroy left."""
    found = [
        point
        for vault in _vaults(account)
        for point in account.listed(
            "backup", "list_recovery_points_by_backup_vault", "RecoveryPoints", BackupVaultName=vault
        )
    ]
    of_cluster = f":cluster/{account.cluster}"
    parents = [each for each in found if each.get("IsParent") and each["ResourceArn"].endswith(of_cluster)]
    made = [_point(each, [inner for inner in found if _is_inside(inner, each)]) for each in parents]
    return sorted(made, key=lambda each: each.made, reverse=True)


def restore_jobs(account: AwsQueries) -> list[RestoreJob]:
    """Return the restores from all vaults of the stack, newest first.

    Volume restores that belong to the restore of a cluster are left out.
    https://docs.aws.amazon.com/aws-backup/latest/devguide/API_ListRestoreJobs.html
    """
    vaults = frozenset(_vaults(account))
    jobs = [
        _job(each)
        for each in account.listed("backup", "list_restore_jobs", "RestoreJobs")
        if each.get("BackupVaultArn", "").rpartition(":")[2] in vaults and not each.get("ParentJobId")
    ]
    return sorted(jobs, key=lambda each: each.begun, reverse=True)


def command(account: AwsQueries, point: RecoveryPoint, role: str, *, namespaces: Sequence[str], zone: str) -> str:
    """Return the command of AWS's CLI that restores a backup of the cluster, or one of a volume or a file system.

    Parameters
    ----------
    role
        ARN of the role with which AWS Backup restores.
    namespaces
        Namespaces to restore from the backup of a cluster. Empty: all.
    zone
        Letter of the zone in which a volume is created. Empty: the zone of the volume that was backed up.

    Raises
    ------
    UserError
        ``zone`` is empty and the volume that was backed up is gone, or ``zone`` is set for a file system.
    """
    if point.of == account.cluster:
        type_, metadata = "EKS", _of_cluster(account, namespaces)
    elif point.of.startswith("fs-"):
        type_, metadata = "EFS", _of_files(point, zone)
    else:
        type_, metadata = "EBS", _of_volume(account, point, zone)
    words = {
        "recovery-point-arn": point.id,
        "iam-role-arn": role,
        "resource-type": type_,
        "metadata": json.dumps(metadata, sort_keys=True),
        "region": account.region,
    }
    options = [f"--{option} {shlex.quote(word)}" for option, word in words.items()]
    # AmazonEBSCSIDriverPolicyV2 lets the CSI driver attach only volumes with one of its tags.
    tags = ["--copy-source-tags-to-restored-resource"] if type_ == "EBS" else []
    return " ".join(["aws backup start-restore-job", *options, *tags])


def _vaults(account: AwsQueries) -> list[str]:
    return [vault.id for vault in backup.vaults(account) if account.is_ours(vault.tags or {})]


def _job(found: Mapping[str, Any]) -> RestoreJob:
    ended = found.get("CompletionDate")
    return RestoreJob(
        found["RestoreJobId"],
        found.get("SourceResourceArn", found["RecoveryPointArn"]).rpartition("/")[2],
        found["CreationDate"].astimezone(UTC),
        ended.astimezone(UTC) if ended else None,
        found["Status"],
        is_restored=found["Status"] == "COMPLETED",
    )


def _of_cluster(account: AwsQueries, namespaces: Sequence[str]) -> dict[str, str]:
    some = {"namespaceLevelRestore": "true", "namespaces": json.dumps(list(namespaces))} if namespaces else {}
    return {"clusterName": account.cluster, "newCluster": "false", **some}


def _of_volume(account: AwsQueries, point: RecoveryPoint, zone: str) -> dict[str, str]:
    """Return the metadata for the restore of a volume; the metadata that AWS stores with a backup lacks the zone.

    https://docs.aws.amazon.com/aws-backup/latest/devguide/restoring-ebs.html
    """
    old = [] if zone else account.look_up("ec2", "describe_volumes", VolumeIds=[point.of]).get("Volumes", [])
    if not zone and not old:
        raise UserError(
            f"The volume {point.of} is gone, and its backup does not say in which zone it was.",
            "Add --zone: a zone in which the pod that uses the volume can run.",
        )
    return {
        "availabilityZone": f"{account.region}{zone}" if zone else old[0]["AvailabilityZone"],
        "volumeType": VOLUME_TYPE,
    }


def _of_files(point: RecoveryPoint, zone: str) -> dict[str, str]:
    """Return the metadata for the restore of files into a new directory of their file system.

    https://docs.aws.amazon.com/aws-backup/latest/devguide/restoring-efs.html
    """
    if zone:
        raise UserError(f"--zone: the file system {point.of} is in all zones; leave it out")
    unused = {"CreationToken": "restored", "Encrypted": "true", "PerformanceMode": "generalPurpose"}
    return {"file-system-id": point.of, "newFileSystem": "false", **unused}


def _is_inside(point: Mapping[str, Any], parent: Mapping[str, Any]) -> bool:
    is_child = point.get("ParentRecoveryPointArn") == parent["RecoveryPointArn"]
    return bool(is_child and point["ResourceType"] in ("EBS", "EFS"))


def _point(found: Mapping[str, Any], inside: Sequence[Mapping[str, Any]] = ()) -> RecoveryPoint:
    until = (found.get("CalculatedLifecycle") or {}).get("DeleteAt")
    return RecoveryPoint(
        found["RecoveryPointArn"],
        found["ResourceArn"].rpartition("/")[2],
        found["CreationDate"].astimezone(UTC),
        until.astimezone(UTC) if until else None,
        found["Status"],
        found["BackupVaultName"],
        tuple(sorted(map(_point, inside), key=lambda each: each.of)),
    )
