"""Backups that Azure Backup has made of clusters: when it makes them, and when they are gone."""

import re
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds import backup_jobs
from emulators.azure.server.kinds.backup_readiness import problems, runs_extension
from emulators.azure.server.kinds.kind import Form, Kind
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource
from emulators.core.refusal import Refusal

INSTANCE: Final = "Microsoft.DataProtection/backupVaults/backupInstances"
POINT: Final = f"{INSTANCE}/recoveryPoints"

CONFIGURED: Final = "ProtectionConfigured"
"""The state of an instance that is backed up."""

_INTERVAL: Final = re.compile(r"R/\d{4}-\d\d-\d\dT(\d\d):00:00\+00:00/(PT(?:4|6|8|12)H|P1D)")
_DAYS: Final = re.compile(r"P(\d+)D")


class Points(Kind):
    """``Microsoft.DataProtection/backupVaults/backupInstances/recoveryPoints``: only Azure makes and removes them."""

    arm_type = POINT
    token = POINT
    version = "2025-01-01"
    form = Form

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        raise Refusal("MethodNotAllowed", 405, "Recovery points are made by backups.")

    def run(self, moment: datetime) -> list[str]:
        """Make the backups that are due in the hour of a moment, remove those that have expired; return the new ids.

        The newest one stays, however old it is: backup-manage of ``tools/facts/azure_sources.yaml``.
        """
        made = []
        for instance in self.store.all(INSTANCE):
            policy, cluster = self.store.find(policy_id(instance)), self.store.find(cluster_id(instance))
            if policy is None or cluster is None or not runs_extension(self.store, cluster):
                continue  # a backup fails, and what has expired stays: backup-matrix
            vault, group = self.store.get(instance.id.above.above), snapshots_id(instance.properties)
            is_protected = instance.properties["currentProtectionState"] == CONFIGURED
            works = is_protected and not any(problems(self.store, vault, cluster, group))
            if works and moment.hour in schedule_of(policy.body):
                made.append(self._make(instance, moment, days_of(policy.body)))
            for point in sorted(self.store.below(instance.id, POINT), key=_made_at)[:-1]:
                if datetime.fromisoformat(point.properties["expiryTime"]) <= moment:
                    self.store.remove(point)
        return made

    def _make(self, instance: Resource, moment: datetime, days: int) -> str:
        name = uuid.uuid4().hex
        properties = {
            "objectType": "AzureBackupDiscreteRecoveryPoint",
            "recoveryPointTime": moment.isoformat(),
            "expiryTime": (moment + timedelta(days=days)).isoformat(),
            "recoveryPointState": "Completed",
            "recoveryPointType": "Incremental",
        }
        id_ = ArmId(f"{instance.id.text}/recoveryPoints/{name}")
        self.store.add(Resource(id_, POINT, {"properties": properties}, is_made_by_azure=True))
        backup_jobs.end(backup_jobs.begin(self.store, instance, "Backup"))
        return id_.text


def schedule_of(policy: Mapping[str, Any]) -> list[int]:
    """Return the hours in UTC at which backups of a policy begin."""
    for rule in _rules(policy, "AzureBackupRule"):
        (interval,) = rule["trigger"]["schedule"]["repeatingTimeIntervals"]
        if found := _INTERVAL.fullmatch(interval):
            step = 24 if found[2] == "P1D" else int(found[2].strip("PTH"))
            return [(int(found[1]) + begun) % 24 for begun in range(0, 24, step)]
    return []


def days_of(policy: Mapping[str, Any]) -> int:
    """Return the days for which a policy keeps backups; 0 if it does not say."""
    for rule in _rules(policy, "AzureRetentionRule"):
        (life,) = rule["lifecycles"]
        if found := _DAYS.fullmatch(life["deleteAfter"]["duration"]):
            return int(found[1])
    return 0


def _made_at(point: Resource) -> datetime:
    return datetime.fromisoformat(point.properties["recoveryPointTime"])


def _rules(policy: Mapping[str, Any], type_: str) -> Iterator[dict[str, Any]]:
    yield from (each for each in policy["properties"]["policyRules"] if each["objectType"] == type_)


def cluster_id(instance: Resource) -> ArmId:
    """Return the id of the cluster that an instance backs up."""
    return ArmId(instance.properties["dataSourceInfo"]["resourceID"])


def snapshots_id(properties: Mapping[str, Any]) -> ArmId:
    """Return the id of the resource group in which an instance with these properties keeps its snapshots."""
    (store,) = properties["policyInfo"]["policyParameters"]["dataStoreParametersList"]
    return ArmId(store["resourceGroupId"])


def policy_id(instance: Resource) -> ArmId:
    """Return the id of an instance's policy."""
    return ArmId(instance.properties["policyInfo"]["policyId"])
