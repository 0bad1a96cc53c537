"""Keys of secrets: who must be able to use them, and what becomes of a cluster that no longer can.

Source: https://learn.microsoft.com/azure/aks/use-kms-etcd-encryption. Assumed: a vault goes by roles, not by policies
of its own, and a role on a group or a subscription is one on the vault.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from emulators.azure.server.ids import GROUP, SUBSCRIPTION, ArmId
from emulators.azure.server.kinds.identity import assigned
from emulators.azure.server.kinds.kind import at
from emulators.azure.server.refusals import invalid
from emulators.azure.server.store import Resource, Store
from emulators.core.refusal import Refusal

KEY: Final = re.compile(r"(https://([\w-]{3,24})\.[\w.-]+)/keys/[\w-]+(/[0-9a-f]{32})?")
"""Id of a key in a Key Vault: address and name of the vault, and version."""

ROLES: Final = frozenset(
    {
        "12338af0-0e69-4776-bea7-57ae8d297424",  # Key Vault Crypto User
        "14b46e9e-c2b7-41b4-b07b-48a6ebf60603",  # Key Vault Crypto Officer
        "00482a5a-887f-4fb3-b363-3b7fe8e74483",  # Key Vault Administrator
    }
)
"""Built-in roles that may encrypt and decrypt; Owner and Contributor may not."""

VAULT: Final = "Microsoft.KeyVault/vaults"

PROFILE: Final = "properties.securityProfile.azureKeyVaultKms"

USED: Final = "keys of secrets"
"""What is remembered of a cluster: its key and the one before it, which is needed until the next change."""


def check(store: Store, body: Mapping[str, Any], principals: list[str]) -> None:
    """Refuse a key that is none, or that the cluster's identity may not use; of a private vault AKS cannot tell."""
    kms = at(body, PROFILE) or {}
    if not kms.get("enabled"):
        return
    found = KEY.fullmatch(kms.get("keyId") or "")
    if not found:
        raise invalid("securityProfile.azureKeyVaultKms.keyId", f"{kms.get('keyId')!r} is no id of a key.")
    is_told = kms.get("keyVaultNetworkAccess") != "Private"
    if is_told and not all(_may_use(store, each, found[2]) for each in principals):
        told = f'The identity does not have keys encrypt/decrypt permission on key vault "{found[1]}".'
        raise Refusal("AzureKeyVaultKmsValidateIdentityPermissionCustomerError", 400, told)


def remember(cluster: Resource) -> None:
    """Remember the key that a cluster uses from now on."""
    kms = at(cluster.body, PROFILE) or {}
    used = cluster.remembered.get(USED, [])
    if kms.get("enabled") and kms["keyId"] not in used:
        cluster.remembered[USED] = [*used, kms["keyId"]][-2:]


def unusable(store: Store, cluster: Resource, principals: list[str]) -> list[str]:
    """Return the keys that a cluster needs and may not use; it cannot read its Secrets then.

    A key is needed after it was turned off too, until nothing is encrypted with it, which the emulator does not know.
    """
    used = [(key, KEY.fullmatch(key)) for key in cluster.remembered.get(USED, [])]
    return [key for key, found in used if found and not all(_may_use(store, each, found[2]) for each in principals)]


def _may_use(store: Store, principal: str, vault: str) -> bool:
    return any(_covers(ArmId(each.id.scope), vault) for each in assigned(store, principal, ROLES))


def _covers(scope: ArmId, vault: str) -> bool:
    type_ = scope.type.lower()
    if type_ in {GROUP.lower(), SUBSCRIPTION.lower()}:
        return True
    return type_.startswith(VAULT.lower()) and vault.lower() in scope.key.split("/")
