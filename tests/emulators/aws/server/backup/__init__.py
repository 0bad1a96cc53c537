"""AWS Backup: vaults, plans, backups of EKS clusters and restores, and what is refused; moto has a small part of it."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from datetime import datetime
from typing import Any, Protocol

from emulators.aws.server.backup.plans import Plans
from emulators.aws.server.backup.points import CLUSTER, Points, Wanted
from emulators.aws.server.backup.restores import Restores
from emulators.aws.server.backup.store import Store
from emulators.aws.server.backup.vaults import Vaults
from emulators.core.clock import Clock
from emulators.core.fault_outcome import AS_USUAL, FaultOutcome


class _Part(Protocol):
    def operations(self) -> Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]: ...


class Backup:
    """The service.

    Parameters
    ----------
    has_cluster
        Returns whether EKS has a cluster of a name.
    """

    def __init__(self, clock: Clock, has_cluster: Callable[[str], bool]) -> None:
        self._store = store = Store()
        self._plans, self._points = Plans(store), Points(store, clock, has_cluster)
        self._has_cluster = has_cluster
        parts: list[_Part] = [Vaults(store), self._plans, self._points, Restores(store, clock, has_cluster)]
        self._handlers = {name: handle for part in parts for name, handle in part.operations().items()}

    def handle(self, operation: str, params: dict[str, Any], _outcome: FaultOutcome = AS_USUAL) -> dict[str, Any]:
        """Do what a request asks for and return the members of the answer; parameters as of ``Service.handle``."""
        if operation not in self._handlers:
            raise NotImplementedError(f"backup:{operation}")
        return deepcopy(self._handlers[operation](params))

    def run(self, at: datetime) -> list[str]:
        """Let it be a minute: begin the backups that are due, and end those whose time is over.

        Returns the ARNs of the clusters that are backed up.
        """
        self._store.move_to(at)
        begun = []
        for plan, rule, selection in self._plans.due(at):
            chosen = selection["BackupSelection"]
            clusters = [each for each in chosen.get("Resources", ()) if each.startswith(CLUSTER)]
            for cluster in (each for each in clusters if self._has_cluster(each.removeprefix(CLUSTER))):
                wanted = Wanted(
                    vault=self._store.vault(rule["TargetBackupVaultName"]),
                    resource=cluster,
                    role=chosen["IamRoleArn"],
                    lifecycle=rule.get("Lifecycle", {}),
                    made_by={"BackupPlanId": plan.id, "BackupPlanArn": plan.arn, "BackupRuleName": rule["RuleName"]},
                )
                self._points.begin(wanted)
                begun.append(cluster)
        self._points.expire()
        return begun

    def inventory(self) -> Mapping[str, list[str]]:
        """Return the ids of what exists by type, as Pulumi's state has them."""
        vaults, plans = self._store.vaults, self._store.plans
        found = {
            "aws:backup/plan:Plan": plans,
            "aws:backup/selection:Selection": [id_ for plan in plans.values() for id_ in plan.selections],
            "aws:backup/vault:Vault": vaults,
            "aws:backup/vaultLockConfiguration:VaultLockConfiguration": [
                name for name, vault in vaults.items() if vault.body["Locked"]
            ],
        }
        return {type_: sorted(ids) for type_, ids in found.items() if ids}
