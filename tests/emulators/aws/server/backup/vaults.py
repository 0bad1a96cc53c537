"""Vaults, their locks, and tags of vaults and plans."""

from collections.abc import Callable, Mapping
from typing import Any

from emulators.aws.server import store as motos
from emulators.aws.server.backup.store import OWN_KEY, Store, Vault, arn, invalid, not_found, not_possible, refusal

_LOCK = ("MinRetentionDays", "MaxRetentionDays", "LockDate")


class Vaults:
    """Vaults."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operations(self) -> Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]:
        """Return what handles each operation."""
        return {
            "CreateBackupVault": self.create,
            "DeleteBackupVault": self.delete,
            "DeleteBackupVaultLockConfiguration": self.unlock,
            "DescribeBackupVault": self.describe,
            "ListBackupVaults": self.list,
            "ListTags": lambda params: {"Tags": self._tags(params)},
            "PutBackupVaultLockConfiguration": self.lock,
            "TagResource": self.tag,
            "UntagResource": self.untag,
        }

    def create(self, params: dict[str, Any]) -> dict[str, Any]:
        """Make a vault."""
        name, key = params["BackupVaultName"], params.get("EncryptionKeyArn")
        if name in self._store.vaults:
            raise refusal("AlreadyExistsException", "Backup vault with the same name already exists")
        keys = {each.arn: each.key_state for each in motos.kms().keys.values()}
        if key and keys.get(key) != "Enabled":
            raise invalid(f"The KMS key {key} does not exist or is not enabled")
        body = {
            "BackupVaultName": name,
            "BackupVaultArn": arn("backup-vault", name),
            "VaultType": "BACKUP_VAULT",
            "VaultState": "AVAILABLE",
            "EncryptionKeyArn": key or OWN_KEY,
            "CreationDate": self._store.now,
            "Locked": False,
        }
        self._store.vaults[name] = Vault(body, dict(params.get("BackupVaultTags", {})))
        return {key: body[key] for key in ("BackupVaultName", "BackupVaultArn", "CreationDate")}

    def describe(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return a vault. One that does not exist is refused as if it belonged to another account."""
        name = params["BackupVaultName"]
        if name not in self._store.vaults:
            # hashicorp/terraform-provider-aws, internal/service/backup/vault.go, takes it for gone.
            raise refusal("AccessDeniedException", "Insufficient privileges to perform this action.", 403)
        return self._store.vaults[name].described

    def list(self, _params: dict[str, Any]) -> dict[str, Any]:
        """Return all vaults."""
        return {"BackupVaultList": [vault.described for _, vault in sorted(self._store.vaults.items())]}

    def delete(self, params: dict[str, Any]) -> dict[str, Any]:
        """Delete an empty vault."""
        if self._store.vault(params["BackupVaultName"]).points:
            raise not_possible("Backup vault cannot be deleted because it contains recovery points.")
        del self._store.vaults[params["BackupVaultName"]]
        return {}

    def lock(self, params: dict[str, Any]) -> dict[str, Any]:
        """Lock a vault in governance mode, over a lock that it has: that can be changed and removed.

        https://docs.aws.amazon.com/aws-backup/latest/devguide/vault-lock.html
        """
        if "ChangeableForDays" in params:
            raise NotImplementedError("backup: a lock that cannot be removed")
        low, high = params.get("MinRetentionDays", 1), params.get("MaxRetentionDays", 36_500)
        if not 1 <= low <= high <= 36_500:
            raise invalid(f"MinRetentionDays and MaxRetentionDays must be within 1 and 36500, given {low} and {high}")
        body = self._store.vault(params["BackupVaultName"]).body
        self._drop(body)
        body.update({key: params[key] for key in _LOCK if key in params}, Locked=True)
        return {}

    def unlock(self, params: dict[str, Any]) -> dict[str, Any]:
        """Remove a lock."""
        self._drop(self._store.vault(params["BackupVaultName"]).body)
        return {}

    def tag(self, params: dict[str, Any]) -> dict[str, Any]:
        """Add tags, or give those that there are another value."""
        self._tags(params).update(params["Tags"])
        return {}

    def untag(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take tags away; one that is not there is fine."""
        tags = self._tags(params)
        for key in params["TagKeyList"]:
            tags.pop(key, None)
        return {}

    @staticmethod
    def _drop(body: dict[str, Any]) -> None:
        for key in _LOCK:
            body.pop(key, None)
        body["Locked"] = False

    def _tags(self, params: dict[str, Any]) -> dict[str, str]:
        tagged: dict[str, dict[str, str]] = {
            **{vault.body["BackupVaultArn"]: vault.tags for vault in self._store.vaults.values()},
            **{plan.arn: plan.tags for plan in self._store.plans.values()},
        }
        if params["ResourceArn"] not in tagged:
            raise not_found(f"Resource not found: {params['ResourceArn']}")
        return tagged[params["ResourceArn"]]
