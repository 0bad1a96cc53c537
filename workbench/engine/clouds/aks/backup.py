"""Refuses another schedule of backups that are there: Azure takes no other policy for a cluster that it backs up.

https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-support-matrix
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.contract.aks.backup import policy_name
from components.contract.aks.config import AksConfig
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.fixed_choice import resources_of

INSTANCE: Final = "azure-native:dataprotection:BackupInstance"


def backup_blockers(choices: AksConfig, deployment: Mapping[str, Any]) -> Iterator[Blocker]:
    """Return a blocker if the cluster is backed up by another schedule than the stack file has.

    Parameters
    ----------
    choices
        The cluster section of the stack file.
    deployment
        The stack's state, as exported.
    """
    if not choices.backup:
        return
    declared = policy_name(choices.backup)
    for instance in resources_of(deployment, INSTANCE):
        info = (instance["inputs"].get("properties") or {}).get("policyInfo") or {}
        live = str(info.get("policyId") or "").rpartition("/")[2]
        if live and live != declared and instance["inputs"].get("backupInstanceName") == choices.name:
            yield Blocker(
                "cluster.backup",
                f"{_words(declared)}, but the cluster is backed up {_words(live)}",
                "Azure takes no other policy for a cluster that it backs up",
                f"Set it back to {_words(live)}. docs/backup.md says how to begin anew, which deletes the backups.",
            )


def _words(policy: str) -> str:
    """Return the choices in the name of a policy in words."""
    found = re.fullmatch(r"every-(\w+)-at-(\d\d)-kept-(\d+)d", policy)
    return f"every {found[1]} from {found[2]}:00 UTC, kept for {found[3]} days" if found else f"by the policy {policy}"
