"""Backup jobs of EKS clusters, the recovery points that they make, and how those expire."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from emulators.aws.server import ACCOUNT, REGION
from emulators.aws.server import store as motos
from emulators.aws.server.backup.store import (
    OWN_KEY,
    Store,
    Vault,
    arn,
    check_role,
    invalid,
    is_usable,
    new_id,
    not_found,
    not_possible,
)
from emulators.core.clock import Clock

CLUSTER: Final = f"arn:aws:eks:{REGION}:{ACCOUNT}:cluster/"
VOLUME: Final = f"arn:aws:ec2:{REGION}:{ACCOUNT}:volume/"
SNAPSHOT: Final = f"arn:aws:ec2:{REGION}::snapshot/"

_SHORT: Final = ("RecoveryPointArn", "CreationDate", "Status", "BackupVaultName", "IsParent", "ParentRecoveryPointArn")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A backup that a rule or a person asks for."""

    vault: Vault
    resource: str
    role: str
    lifecycle: Mapping[str, Any] = field(default_factory=dict)
    made_by: Mapping[str, str] = field(default_factory=dict)
    """Members of ``CreatedBy``."""


class Points:
    """Backup jobs and recovery points.

    https://docs.aws.amazon.com/aws-backup/latest/devguide/eks-backups.html: a backup of a cluster is a composite point
    with a child for the cluster's state and one for each volume of a claim. Its ARN ends in the cluster's name and a
    time, whose form is assumed. The volumes are those with the tag of the cluster's CSI driver.
    """

    def __init__(self, store: Store, clock: Clock, has_cluster: Callable[[str], bool]) -> None:
        self._store, self._clock, self._has_cluster = store, clock, has_cluster

    def operations(self) -> Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        """Return what handles each operation."""
        return {
            "DeleteRecoveryPoint": self.delete,
            "DescribeBackupJob": self.job,
            "ListRecoveryPointsByBackupVault": self.of_vault,
            "ListRecoveryPointsByResource": self.of_resource,
            "StartBackupJob": self.start,
        }

    def start(self, params: dict[str, Any]) -> dict[str, Any]:
        """Begin a backup on demand."""
        check_role(params["IamRoleArn"])
        wanted = Wanted(
            vault=self._store.vault(params["BackupVaultName"]),
            resource=params["ResourceArn"],
            role=params["IamRoleArn"],
            lifecycle=params.get("Lifecycle", {}),
        )
        if not wanted.resource.startswith(CLUSTER):
            raise NotImplementedError(f"a backup of {wanted.resource}")
        if not self._has_cluster(wanted.resource.removeprefix(CLUSTER)):
            raise not_found(f"Resource {wanted.resource} does not exist")
        job = self.begin(wanted)
        return {"BackupJobId": job["BackupJobId"], "CreationDate": job["CreationDate"], "IsParent": True}

    def begin(self, wanted: Wanted) -> dict[str, Any]:
        """Begin a backup and return its job; a vault refuses one that is kept for less than its lock says."""
        job = {
            "AccountId": ACCOUNT,
            "BackupJobId": new_id(),
            "BackupVaultName": wanted.vault.body["BackupVaultName"],
            "BackupVaultArn": wanted.vault.body["BackupVaultArn"],
            "ResourceArn": wanted.resource,
            "ResourceType": "EKS",
            "IamRoleArn": wanted.role,
            "CreationDate": self._store.now,
            "State": "RUNNING",
            "IsParent": True,
        }
        self._store.backups[job["BackupJobId"]] = job
        kept, least = wanted.lifecycle.get("DeleteAfterDays"), wanted.vault.body.get("MinRetentionDays", 0)
        if kept is not None and kept < least:
            told = f"The retention of {kept} days is shorter than the vault's minimum of {least} days"
            job.update(State="FAILED", StatusMessage=told)
        elif not is_usable(wanted.role):
            job.update(State="FAILED", StatusMessage=f"IAM Role {wanted.role} does not have sufficient permissions")
        else:
            self._clock.later("backup:StartBackupJob", lambda: self._end(job, wanted))
        return job

    def _end(self, job: dict[str, Any], wanted: Wanted) -> None:
        cluster, now = wanted.resource.removeprefix(CLUSTER), self._store.now
        named = f"{cluster}-{now:%Y%m%d%H%M%S}"
        parent, state = (arn("recovery-point", f"{kind}eks/{named}") for kind in ("composite:", ""))
        made = {parent: ("EKS", wanted.resource, cluster), state: ("EKS", wanted.resource, cluster)}
        for volume in _volumes(cluster):
            snapshot = motos.ec2().create_snapshot(volume.id, f"This snapshot is created by AWS Backup for {cluster}")
            snapshot.add_tags(tags_of(volume))  # AWS Backup developer guide, "Copy tags onto backups"
            made[f"{SNAPSHOT}{snapshot.id}"] = ("EBS", f"{VOLUME}{volume.id}", volume.id)
        for point, (type_, resource, name) in made.items():
            wanted.vault.points[point] = {
                "RecoveryPointArn": point,
                "BackupVaultName": wanted.vault.body["BackupVaultName"],
                "BackupVaultArn": wanted.vault.body["BackupVaultArn"],
                "ResourceArn": resource,
                "ResourceType": type_,
                "ResourceName": name,
                "IamRoleArn": wanted.role,
                "Status": "COMPLETED",
                "CreationDate": now,
                "CompletionDate": now,
                "IsEncrypted": True,
                "EncryptionKeyArn": wanted.vault.body["EncryptionKeyArn"] or OWN_KEY,
                "IsParent": point == parent,
                **({"ParentRecoveryPointArn": parent} if point != parent else {}),
                **({"CreatedBy": dict(wanted.made_by)} if wanted.made_by else {}),
                **_lifecycle(wanted.lifecycle, now),
            }
        job.update(State="COMPLETED", CompletionDate=now, RecoveryPointArn=parent, NumberOfChildJobs=len(made) - 1)

    def job(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a backup job."""
        if params["BackupJobId"] not in self._store.backups:
            raise not_found(f"Backup job not found: {params['BackupJobId']}")
        return self._store.backups[params["BackupJobId"]]

    def of_vault(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a vault's points, or those of a resource, a type or a composite point."""
        wanted = {
            member: params[key]
            for key, member in (
                ("ByParentRecoveryPointArn", "ParentRecoveryPointArn"),
                ("ByResourceArn", "ResourceArn"),
                ("ByResourceType", "ResourceType"),
            )
            if key in params
        }
        points = self._store.vault(params["BackupVaultName"]).points.values()
        return {"RecoveryPoints": [point for point in points if wanted.items() <= point.items()]}

    def of_resource(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the points of a resource in all vaults, in short."""
        found = [point for _, point in self._store.points() if point["ResourceArn"] == params["ResourceArn"]]
        return {"RecoveryPoints": [{key: point[key] for key in _SHORT if key in point} for point in found]}

    def delete(self, params: dict[str, Any]) -> dict[str, Any]:
        """Delete a point that nothing locks and that has no children; that of the state goes with its composite one."""
        vault, name = self._store.vault(params["BackupVaultName"]), params["RecoveryPointArn"]
        point = vault.points.get(name)
        if point is None:
            raise not_found(f"Recovery point not found: {name}")
        if vault.body["Locked"]:
            raise not_possible(f"Recovery point {name} is in a locked backup vault and cannot be deleted")
        if point["IsParent"] and len(_children(vault, name)) > 1:
            raise not_possible(f"Recovery point {name} contains nested recovery points; delete those first")
        if not point["IsParent"] and point["ResourceType"] == "EKS":
            raise not_possible(f"Recovery point {name} belongs to its composite recovery point")
        self._drop(vault, name)
        return {}

    def expire(self) -> None:
        """Delete the points whose time is over, with the role that made them; without it they stay as EXPIRED.

        botocore's documentation of DeleteRecoveryPoint.
        """
        now = self._store.now
        for vault, point in [*self._store.points()]:
            ends: datetime | None = point.get("CalculatedLifecycle", {}).get("DeleteAt")
            if ends and ends <= now and point["RecoveryPointArn"] in vault.points:
                if is_usable(point["IamRoleArn"]):
                    self._drop(vault, point["RecoveryPointArn"])
                else:
                    point["Status"] = "EXPIRED"

    @staticmethod
    def _drop(vault: Vault, name: str) -> None:
        point = vault.points.pop(name)
        if point["ResourceType"] == "EBS":
            motos.ec2().delete_snapshot(snapshot_of(point).id)
        for child in _children(vault, name):
            Points._drop(vault, child)


def snapshot_of(point: Mapping[str, Any]) -> Any:
    """Return the snapshot that is a volume's point."""
    return motos.ec2().snapshots[str(point["RecoveryPointArn"]).removeprefix(SNAPSHOT)]


def tags_of(resource: Any) -> dict[str, str]:
    """Return the tags of a volume or a snapshot."""
    return {tag["key"]: tag["value"] for tag in resource.get_tags()}


def _children(vault: Vault, parent: str) -> list[str]:
    return [name for name, point in vault.points.items() if point.get("ParentRecoveryPointArn") == parent]


def _volumes(cluster: str) -> list[Any]:
    """Return the volumes of claims: kubernetes-sigs/aws-ebs-csi-driver, docs/tagging.md."""
    owner = f"kubernetes.io/cluster/{cluster}"
    return [each for each in motos.ec2().volumes.values() if tags_of(each).get(owner) == "owned"]


def _lifecycle(lifecycle: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    if "MoveToColdStorageAfterDays" in lifecycle:
        raise invalid("The emulator has no cold storage")
    days = lifecycle.get("DeleteAfterDays")
    return (
        {"Lifecycle": dict(lifecycle), "CalculatedLifecycle": {"DeleteAt": now + timedelta(days=days)}} if days else {}
    )
