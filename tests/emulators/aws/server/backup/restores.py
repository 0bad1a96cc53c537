"""Restore jobs: of a cluster, of some of its namespaces, or of one volume.

What comes back in a cluster is not done: the emulator keeps no manifests. Volumes are made from their snapshots.
https://docs.aws.amazon.com/aws-backup/latest/devguide/restoring-eks.html
"""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from emulators.aws.server import ACCOUNT
from emulators.aws.server import store as motos
from emulators.aws.server.backup.points import CLUSTER, VOLUME, snapshot_of, tags_of
from emulators.aws.server.backup.store import Store, check_role, invalid, new_id, not_found
from emulators.core.clock import Clock

NAMESPACES_MAX: Final = 5

_KNOWN: Final = frozenset(
    {
        *("clusterName", "newCluster", "namespaceLevelRestore", "namespaces"),
        *("nestedRestoreJobs", "restoreKubernetesManifestsOnly", "kubernetesRestoreOrder"),
    }
)
_ZONE: Final = "availabilityzone"


class Restores:
    """Restore jobs."""

    def __init__(self, store: Store, clock: Clock, has_cluster: Callable[[str], bool]) -> None:
        self._store, self._clock, self._has_cluster = store, clock, has_cluster

    def operations(self) -> Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        """Return what handles each operation."""
        return {"DescribeRestoreJob": self.job, "ListRestoreJobs": self.list, "StartRestoreJob": self.start}

    def job(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a restore job."""
        if params["RestoreJobId"] not in self._store.restores:
            raise not_found(f"Restore job not found: {params['RestoreJobId']}")
        return self._store.restores[params["RestoreJobId"]]

    def list(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return all restore jobs, or those inside one."""
        parent, jobs = params.get("ByParentJobId"), self._store.restores.values()
        return {"RestoreJobs": [job for job in jobs if not parent or job.get("ParentJobId") == parent]}

    def start(self, params: dict[str, Any]) -> dict[str, Any]:
        """Begin a restore."""
        name, metadata = params["RecoveryPointArn"], params["Metadata"]
        found = {point["RecoveryPointArn"]: point for _, point in self._store.points()}
        if name not in found:
            raise not_found(f"Recovery point not found: {name}")
        point = found[name]
        check_role(params.get("IamRoleArn", ""))
        if params.get("ResourceType", point["ResourceType"]) != point["ResourceType"]:
            raise invalid(f"Recovery point {name} is of the type {point['ResourceType']}")
        if point["Status"] != "COMPLETED":
            raise invalid(f"Recovery point {name} is {point['Status']}")
        if point["ResourceType"] == "EBS":
            tagged = params.get("CopySourceTagsToRestoredResource", False)
            work = partial(_restored, point, _zone(metadata), type_=metadata.get("volumeType"), is_tagged=tagged)
            job = self._begin(point, params["IamRoleArn"], work)
        elif not point["IsParent"]:
            raise invalid(f"Recovery point {name} can be restored with its composite recovery point only")
        else:
            zones = self._checked(metadata, name, found)
            job = self._begin(point, params["IamRoleArn"], lambda: f"{CLUSTER}{metadata['clusterName']}")
            job["IsParent"] = True
            for nested, zone in zones.items():
                child = self._begin(found[nested], params["IamRoleArn"], partial(_restored, found[nested], zone))
                child["ParentJobId"] = job["RestoreJobId"]
        return {"RestoreJobId": job["RestoreJobId"]}

    def _begin(self, point: Mapping[str, Any], role: str, work: Callable[[], str]) -> dict[str, Any]:
        job = {
            "AccountId": ACCOUNT,
            "RestoreJobId": new_id(),
            "RecoveryPointArn": point["RecoveryPointArn"],
            "SourceResourceArn": point["ResourceArn"],
            "BackupVaultArn": point["BackupVaultArn"],
            "CreationDate": self._store.now,
            "Status": "RUNNING",
            "IamRoleArn": role,
            "ResourceType": point["ResourceType"],
            "IsParent": False,
        }
        self._store.restores[job["RestoreJobId"]] = job

        def end() -> None:
            job.update(Status="COMPLETED", CompletionDate=self._store.now, CreatedResourceArn=work())

        self._clock.later("backup:StartRestoreJob", end)
        return job

    def _checked(self, metadata: Mapping[str, str], name: str, found: Mapping[str, Any]) -> dict[str, str]:
        """Return the zones of the volumes that come back, or refuse what the restore of a cluster does not take.

        Where nested volumes are named, only those come back; where none is, all do, in the zones that they had (both
        assumed).
        """
        if unknown := sorted(metadata.keys() - _KNOWN):
            raise invalid(f"Unknown restore metadata for EKS: {', '.join(unknown)}")
        if metadata.get("newCluster", "false") != "false":
            raise NotImplementedError("a restore to a new cluster")
        if not self._has_cluster(metadata.get("clusterName", "")):
            raise invalid(f"Cluster {metadata.get('clusterName')} does not exist")
        namespaces = json.loads(metadata.get("namespaces", "[]"))
        if (metadata.get("namespaceLevelRestore") == "true") != bool(namespaces) or len(namespaces) > NAMESPACES_MAX:
            raise invalid(f"namespaceLevelRestore needs 1 to {NAMESPACES_MAX} namespaces, given {len(namespaces)}")
        nested = json.loads(metadata.get("nestedRestoreJobs", "{}"))
        volumes = {
            key: point
            for key, point in found.items()
            if point.get("ParentRecoveryPointArn") == name and point["ResourceType"] == "EBS"
        }
        if strange := sorted(nested.keys() - volumes.keys()):
            raise invalid(f"Not nested in {name}: {', '.join(strange)}")
        if nested:
            return {key: _zone(json.loads(given)) for key, given in nested.items()}
        return {key: snapshot_of(point).volume.zone.name for key, point in volumes.items()}


def _zone(metadata: Mapping[str, str]) -> str:
    """Return the zone that a volume's metadata names, in any case of letters: AWS's own examples use two."""
    zone = next((value for key, value in metadata.items() if key.lower() == _ZONE), "")
    if zone not in _zones():
        raise invalid(f"The availability zone '{zone}' does not exist")
    return zone


def _zones() -> Iterable[str]:
    return [each.name for each in motos.ec2().describe_availability_zones()]


def _restored(point: Mapping[str, Any], zone: str, *, type_: str | None = None, is_tagged: bool = False) -> str:
    """Make a volume, with the tags of the old one if that is asked for.

    https://docs.aws.amazon.com/aws-backup/latest/devguide/restoring-a-backup.html
    """
    snapshot = snapshot_of(point)
    encrypted = bool(snapshot.encrypted)
    made = motos.ec2().create_volume(snapshot.volume.size, zone, snapshot.id, encrypted=encrypted, volume_type=type_)
    if is_tagged:
        made.add_tags(tags_of(snapshot))
    return f"{VOLUME}{made.id}"
