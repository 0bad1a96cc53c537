"""What Azure Backup wants of a cluster before it protects it: an extension, a way in, roles, and a place for objects.

Sources: backup-troubleshoot of ``tools/facts/azure_sources.yaml`` (codes);
https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-concept, 2025 (roles, networks).
Assumed are ``UserErrorTrustedAccessNotEnabled``, that the code of a closed account is the one of a role that does not
hold yet, and that the snapshots' group has the code that is documented for disks.
"""

from collections.abc import Iterator
from typing import Final

from emulators.azure.server.aks.busy import is_stopped
from emulators.azure.server.aks.cluster_checks import principals_of
from emulators.azure.server.ids import POOL, ArmId
from emulators.azure.server.kinds.extensions import BINDING, EXTENSION
from emulators.azure.server.kinds.identity import ASSIGNMENT, may
from emulators.azure.server.kinds.storage import ACCOUNT, subnet_rules
from emulators.azure.server.store import FAILED, Resource, Store
from emulators.core.fault_outcome import HealthIssue

CONTRIBUTOR: Final = "b24988ac-6180-42a0-ab88-20f7382dd24c"
READER: Final = "acdd72a7-3385-48ef-bd42-f606fba81ae7"
BLOB_CONTRIBUTOR: Final = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
OPERATOR: Final = "Microsoft.DataProtection/backupVaults/backup-operator"

_NOT_READY: Final = "UserErrorBackupStorageLocationNotReady"
_LOCATION: Final = "configuration.backupStorageLocation"


def problems(store: Store, vault: Resource, cluster: Resource, snapshots: ArmId) -> Iterator[HealthIssue]:
    """Return why a cluster cannot be backed up into a vault, with snapshots in a group; nothing if it can."""
    principal = str((vault.body.get("identity") or {}).get("principalId"))
    if not may(store, principal, READER, cluster.id):
        told = f"The vault {vault.id.name} may not list the extensions of {cluster.id.name}."
        yield HealthIssue("KubernetesBackupListExtensionsError", told)
    entries = [each.properties for each in store.below(cluster.id, BINDING)]
    if not any(e["sourceResourceId"].lower() == vault.id.key and OPERATOR in e["roles"] for e in entries):
        yield HealthIssue("UserErrorTrustedAccessNotEnabled", f"{vault.id.name} may not enter {cluster.id.name}.")
    if not runs_extension(store, cluster):
        told = f"The cluster {cluster.id.name} has no backup extension."
        yield HealthIssue("UserErrorKubernetesBackupExtensionNotFoundError", told)
        return
    yield from _problems_of_account(store, vault, cluster)
    needed = [(principal, READER), *((each, CONTRIBUTOR) for each in principals_of(store, cluster.body))]
    for who, role in needed:
        if not may(store, who, role, snapshots):
            told = f"{who} needs the role {role} on {snapshots.text}."
            yield HealthIssue("UserErrorNotEnoughPermissionOnSnapshotRG", told)


def runs_extension(store: Store, cluster: Resource | None) -> bool:
    """Return whether a cluster is there and runs the extension, without which no backup is made, kept up or removed."""
    if cluster is None or is_stopped(cluster):
        return False
    return any(each.state != FAILED and not each.work for each in store.below(cluster.id, EXTENSION))


def _problems_of_account(store: Store, vault: Resource, cluster: Resource) -> Iterator[HealthIssue]:
    extension = next(store.below(cluster.id, EXTENSION))
    settings = extension.properties["configurationSettings"]
    group = f"/subscriptions/{settings[f'{_LOCATION}.config.subscriptionId']}/resourceGroups/"
    group += settings[f"{_LOCATION}.config.resourceGroup"]
    id_ = ArmId(f"{group}/providers/{ACCOUNT}/{settings[f'{_LOCATION}.config.storageAccount']}")
    account = store.find(id_)
    container = f"{id_.text}/blobServices/default/containers/{settings[f'{_LOCATION}.bucket']}"
    if account is None or store.find(container) is None:
        yield HealthIssue("UserErrorNoDefaultBackupStorageLocationFound", f"There is no container {container}.")
        return
    writer = extension.properties["aksAssignedIdentity"]["principalId"]
    if not may(store, writer, BLOB_CONTRIBUTOR, id_):
        code = _NOT_READY if _waits(store, writer) else "UserErrorExtensionMSIMissingPermissionsOnBackupStorageLocation"
        yield HealthIssue(code, f"{writer} needs the role {BLOB_CONTRIBUTOR} on {id_.text}.")
    elif not _is_open(store, account, vault, cluster):
        yield HealthIssue(_NOT_READY, f"The account {id_.name} does not admit the nodes, or not the vault.")


def _waits(store: Store, principal: str) -> bool:
    """Return whether a role of a principal was assigned a moment ago."""
    new = (each for each in store.all(ASSIGNMENT) if each.id.key in store.unseen)
    return any(each.properties["principalId"] == principal for each in new)


def _is_open(store: Store, account: Resource, vault: Resource, cluster: Resource) -> bool:
    rules = account.properties["networkAcls"]
    if rules["defaultAction"] == "Allow":
        return True
    nodes = {pool.properties["vnetSubnetID"].lower() for pool in store.below(cluster.id, POOL)}
    admitted = {rule["id"].lower() for rule in subnet_rules(store, account)}
    instances = {rule["resourceId"].lower() for rule in rules["resourceAccessRules"]}
    return nodes <= admitted and vault.id.key in instances and "AzureServices" in rules["bypass"]
