"""Role assignments of a namespace's jobs: what their identity grants, by container and prefix, and nothing else."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from components.contract.aks.config import AksConfig
from components.contract.constraint_violation import Mismatch
from components.contract.identity import Access, CloudIdentity, ContainerGrant, other_clouds

BLOB_READER: Final = "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1"
"""Storage Blob Data Reader."""

BLOB_CONTRIBUTOR: Final = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"
"""Storage Blob Data Contributor. It may delete the container too: conditions restrict data actions only."""

ACR_PULL: Final = "7f951dda-4ed3-4680-a7ca-43fe172d538d"
ACR_PUSH: Final = "8311e382-0749-4cb8-b61a-304f252e45ec"
"""AcrPull and AcrPush, for a whole registry."""

CRYPTO_USER: Final = "12338af0-0e69-4776-bea7-57ae8d297424"
"""Key Vault Crypto User. All of them: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles."""

KEYS: Final = ("containers", "registries", "vault_keys")
"""Keys of an identity that are allowed on AKS."""

NAMESPACE_MAX: Final = 60
"""Maximum length of the name of a namespace with an identity, whose name contains it and the cluster's name.

Azure allows 128 characters, AKS 54 for a cluster: azure-rest-api-specs, ``ManagedIdentity.json`` (2023).
"""

CONDITION_MAX: Final = 8192
"""Maximum length of a role assignment's condition, in bytes.

https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits#azure-rbac-limits
"""

ISSUER_AUDIENCE: Final = "api://AzureADTokenExchange"
"""The only audience: entra-docs, ``workload-identity-federation-considerations.md`` (2024)."""

CLIENT_ID: Final = "azure.workload.identity/client-id"
"""Annotation of a service account with its identity: Azure/azure-workload-identity, ``pkg/webhook/consts.go``."""

USE_LABEL: Final = ("azure.workload.identity/use", "true")
"""Label of pods to which the webhook gives a token; on an account it does nothing (Azure/AKS#3546)."""

_BLOBS: Final = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"
_LIST: Final = "SubOperationMatches{'Blob.List'}"
_CHANGES: Final = ("write", "add/action", "delete", "move/action")
"""The contributor's data actions besides reading. ``move`` needs a hierarchical namespace; that Azure compares its path
like that of the others is assumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A built-in role on a scope."""

    kind: str
    """Kind of its scope, one of ``KEYS``."""
    parts: tuple[str, ...]
    """What distinguishes it from others of its kind inside the identity, without dots."""
    role: str
    scope: str
    condition: str = ""
    """Restriction to some data below the scope. Default: all of it."""


def identity_problems(choices: AksConfig, identities: Mapping[str, CloudIdentity]) -> Iterator[Mismatch]:
    """Find what Azure would refuse in the identities, by namespace; paths begin at the namespaces."""
    for namespace, identity in identities.items():
        yield from other_clouds(namespace, identity, KEYS, "AKS")
        if len(namespace) > NAMESPACE_MAX:
            yield Mismatch(
                (namespace, "identity"),
                f"on AKS a namespace with an identity must have at most {NAMESPACE_MAX} characters in its name, which "
                f"is part of the identity's name, given {len(namespace)}; rename it",
            )
        for each in _containers(choices, identity.containers):
            if (length := len(each.condition.encode())) > CONDITION_MAX:
                account, container, access = each.parts
                yield Mismatch(
                    (namespace, "identity", "containers"),
                    f"to {access} in container {container} of {account} a role needs a condition of {length} bytes, "
                    f"Azure allows {CONDITION_MAX}; grant fewer or shorter prefixes",
                )


def assignments(choices: AksConfig, identity: CloudIdentity) -> tuple[Assignment, ...]:
    """Return the role assignments. Azure allows one for each role on a container, so their grants are joined."""
    return (*_containers(choices, identity.containers), *_registries(identity), *_vault_keys(identity))


def _containers(choices: AksConfig, grants: Sequence[ContainerGrant]) -> Iterator[Assignment]:
    for place in dict.fromkeys((each.account, each.container, each.access) for each in grants):
        same = [each for each in grants if (each.account, each.container, each.access) == place]
        account, container, access = place
        prefixes = [each.prefix for each in same]
        yield Assignment(
            kind="containers",
            parts=(account, container, access),
            role=BLOB_READER if access is Access.READ else BLOB_CONTRIBUTOR,
            scope=f"/subscriptions/{choices.subscription_id}/resourceGroups/{same[0].resource_group}/providers"
            f"/Microsoft.Storage/storageAccounts/{account}/blobServices/default/containers/{container}",
            condition="" if "" in prefixes else _condition(prefixes, access),
        )


def _condition(prefixes: Sequence[str], access: Access) -> str:
    """Return the condition that restricts a role to blobs with these prefixes.

    azure-docs, ``articles/storage/blobs/storage-auth-abac-examples.md`` (2023): reading and listing are one action,
    and a list has no path but a prefix.
    """
    path = _any_of(f"@Resource[{_BLOBS}:path]", prefixes)
    listed = _any_of(f"@Request[{_BLOBS}:prefix]", prefixes)
    read = f"ActionMatches{{'{_BLOBS}/read'}}"
    clauses = [f"((!({read} AND NOT {_LIST})) OR {path})", f"((!({read} AND {_LIST})) OR {listed})"]
    if access is Access.WRITE:
        changes = " AND ".join(f"!(ActionMatches{{'{_BLOBS}/{action}'}})" for action in _CHANGES)
        clauses.append(f"(({changes}) OR {path})")
    return " AND ".join(clauses)


def _any_of(attribute: str, prefixes: Sequence[str]) -> str:
    return "(" + " OR ".join(f"{attribute} StringStartsWith '{prefix}'" for prefix in prefixes) + ")"


def _registries(identity: CloudIdentity) -> Iterator[Assignment]:
    for each in identity.registries:
        role = ACR_PULL if each.access is Access.READ else ACR_PUSH
        parts = (each.registry_id.rpartition("/")[2], each.access)
        yield Assignment(kind="registries", parts=parts, role=role, scope=each.registry_id)


def _vault_keys(identity: CloudIdentity) -> Iterator[Assignment]:
    for key in identity.vault_keys:
        vault, _, name = key.partition("/vaults/")[2].partition("/keys/")
        yield Assignment(kind="vault_keys", parts=(vault, name), role=CRYPTO_USER, scope=key)
