"""Ensures that an AKS cluster keeps access to the keys that encrypt its Secrets.

AKS uses two keys at a time, the current and the previous one, and needs a key even after it was turned off:
https://learn.microsoft.com/azure/aks/use-kms-etcd-encryption. Without a role on the vault of such a key the API server
cannot decrypt, and then does not start.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.contract.aks.config import AksConfig
from components.contract.azure import key_address
from workbench.engine.clouds.aks.conditions import CLUSTER
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.fixed_choice import resources_of

ROLE_ASSIGNMENT: Final = "azure-native:authorization:RoleAssignment"

_VAULT: Final = re.compile(r"/providers/Microsoft\.KeyVault/vaults/([^/]+)$", re.IGNORECASE)
_ADDRESS: Final = re.compile(r"https://([^./]+)\.")


def key_blockers(choices: AksConfig, deployment: Mapping[str, Any]) -> Iterator[Blocker]:
    """Return a blocker if the cluster would lose its role on the vault of a key that it still needs.

    Parameters
    ----------
    choices
        The cluster section of the stack file.
    deployment
        The stack's state, as exported.
    """
    cluster = next(resources_of(deployment, CLUSTER), None)
    if cluster is None:
        return
    live = _live_key(cluster)
    wanted = key_address(choices.secrets_key_id) if choices.secrets_key_id else ""
    kept = {vault.rpartition("/")[2].lower() for vault in choices.key_vault_ids}
    if live and _vault_of(live) not in kept:
        yield Blocker(
            "cluster.secretsKeyId",
            f"{wanted or 'no key'}, but Secrets are encrypted with {live}",
            "AKS decrypts with the previous key until the next change, so the cluster keeps its role on that vault",
            "Set cluster.previousSecretsKeyId to the id of the previous key, then run `up` again.",
        )
    elif not (live and wanted and live.lower() != wanted.lower()):  # a change of the key frees the oldest one
        for vault in sorted(_vaults_with_role(deployment) - kept):
            yield Blocker(
                "cluster.previousSecretsKeyId",
                f"the cluster would lose its role on the vault {vault}",
                "AKS decrypts with the previous key until the next change of cluster.secretsKeyId",
                "Set it to the id of the key in that vault; remove it together with the next change to another key.",
            )


def _live_key(cluster: Mapping[str, Any]) -> str:
    """Return the address of the key that AKS encrypts with; empty if there is none."""
    known = {**(cluster.get("inputs") or {}), **(cluster.get("outputs") or {})}
    kms = (known.get("securityProfile") or {}).get("azureKeyVaultKms") or {}
    return str(kms.get("keyId") or "") if kms.get("enabled") else ""


def _vault_of(address: str) -> str:
    """Return the name of the vault, which is unique in Azure."""
    found = _ADDRESS.match(address)
    return found[1].lower() if found else ""


def _vaults_with_role(deployment: Mapping[str, Any]) -> set[str]:
    scopes = (each["inputs"].get("scope", "") for each in resources_of(deployment, ROLE_ASSIGNMENT))
    return {found[1].lower() for scope in scopes if (found := _VAULT.search(scope))}
