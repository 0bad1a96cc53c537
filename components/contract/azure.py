"""Syntax of Azure identifiers in a stack file, checked without calling Azure."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from ipaddress import IPv4Network
from typing import Annotated, Any, Final
from uuid import NAMESPACE_URL, uuid5

from pydantic import AfterValidator, Field

from components.contract.environments import ENVIRONMENT_TAG

LOCATIONS: Final = (
    *("australiaeast", "austriaeast", "belgiumcentral", "brazilsouth", "canadacentral", "centralindia", "centralus"),
    *("chilecentral", "denmarkeast", "eastasia", "eastus", "eastus2", "francecentral", "germanywestcentral"),
    *("indonesiacentral", "israelcentral", "italynorth", "japaneast", "japanwest", "koreacentral", "malaysiawest"),
    *("mexicocentral", "newzealandnorth", "northeurope", "norwayeast", "polandcentral", "qatarcentral"),
    *("southafricanorth", "southcentralus", "southeastasia", "spaincentral", "swedencentral", "switzerlandnorth"),
    *("uaenorth", "uksouth", "westeurope", "westus2", "westus3"),
)
"""Public regions with availability zones: https://learn.microsoft.com/azure/reliability/regions-list.

The clouds of China and of the US government use other addresses and are not supported.
"""

NEVER_IN_AKS: Final = tuple(
    IPv4Network(text) for text in ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24")
)
"""Ranges that AKS reserves: https://learn.microsoft.com/azure/aks/configure-azure-cni."""

TAG_KEY_MAX: Final = 512
TAG_VALUE_MAX: Final = 256
"""Allowed characters of a tag: https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources."""

CONTAINER_NAME_MAX: Final = 63
"""https://learn.microsoft.com/rest/api/storageservices/naming-and-referencing-containers--blobs--and-metadata."""

LABELLED_NAME_MAX: Final = 63
"""Maximum length of the names of subnet, network and resource group, which AKS writes into node labels.

https://learn.microsoft.com/azure/aks/azure-cni-overlay
"""


class AzureTag(StrEnum):
    """Keys of the tags that have a meaning in this package. Azure allows no ``/`` in them."""

    CLUSTER = "igz-clusters-cluster"
    """On all Azure resources: the cluster's name."""

    STACK = "igz-clusters-stack"
    """On all Azure resources: the stack that created them."""

    ENVIRONMENT = ENVIRONMENT_TAG
    """On all Azure resources: ``dev`` or ``prod``, unless the stack file sets another value."""

    MANAGED_BY = "managed-by"
    """On all Azure resources: this package, unless the stack file sets another value; warns against manual edits."""

    PURPOSE = "igz-clusters-purpose"
    """On storage accounts: what the storage is for, one of ``Purpose``; on resources of backups: ``BACKUPS``."""

    TOOK_OVER = "igz-clusters-took-over"
    """On a system pool of AKS that is a resource of its own: the pool that the cluster was created with."""


BACKUPS: Final = "backups"
"""Purpose of resources that ``destroy`` keeps."""

ACCOUNT_TAGS_MAX: Final = 15
ACCOUNT_TAG_KEY_MAX: Final = 128
"""Tags of a storage account: azure-rest-api-specs, Microsoft.Storage 2024-01-01, ``storage.json``."""

RESERVED_TAG_PREFIXES: Final = (
    *("microsoft", "azure", "windows"),
    *("aks-managed-", "k8s-azure-", "kubernetes.io", "igz-clusters-"),
)
"""Tags that Azure, AKS or this package uses; a stack file may not set them."""

_TAG_KEY = re.compile(r"[^<>%&\\?/\x00-\x1f\x7f]+")
_TAG_VALUE = re.compile(r"[^\x00-\x1f\x7f]*")
_GUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_GROUP = r"/subscriptions/(?P<subscription>[0-9a-f-]{36})/resourceGroups/(?P<group>[\w.()-]*[\w()-])"
_NAME = r"[\w.-]*\w"
_SUBNET = rf"{_GROUP}/providers/Microsoft\.Network/virtualNetworks/(?P<network>{_NAME})/subnets/(?P<subnet>{_NAME})"
_DISK_SET = rf"{_GROUP}/providers/Microsoft\.Compute/diskEncryptionSets/{_NAME}"
_KEY = (
    rf"(?P<vault>{_GROUP}/providers/Microsoft\.KeyVault/vaults/(?P<vault_name>[a-zA-Z][a-zA-Z0-9-]{{1,22}}[a-zA-Z0-9]))"
    r"/keys/(?P<key>[a-zA-Z0-9-]{1,127})/versions/(?P<version>[0-9a-f]{32})"
)

_ZONE = r"[a-z0-9-]+(\.[a-z0-9-]+)+"
_PRIVATE_ZONE = rf"{_GROUP}/providers/Microsoft\.Network/privateDnsZones/(?P<zone>{_ZONE})"
_DNS_ZONE = rf"{_GROUP}/providers/Microsoft\.Network/(privateDnsZones|dns[zZ]ones)/{_ZONE}"
_REGISTRY = rf"{_GROUP}/providers/Microsoft\.ContainerRegistry/registries/[a-zA-Z0-9]{{5,50}}"
_VAULT_KEY = (
    rf"{_GROUP}/providers/Microsoft\.KeyVault/vaults/[a-zA-Z][a-zA-Z0-9-]{{1,22}}[a-zA-Z0-9]/keys/[a-zA-Z0-9-]{{1,127}}"
)
_STORAGE_ACCOUNT = "[a-z0-9]{3,24}"
_CONTAINER = "[a-z0-9](-?[a-z0-9]){2,62}"
_RESOURCE_GROUP = r"[\w.()-]{0,89}[\w()-]"


def _location(name: str) -> str:
    if name not in LOCATIONS:
        raise ValueError("unknown Azure region, or one without availability zones")
    return name


GUID_SHAPE: Final = "32 lower-case hexadecimal digits as 8-4-4-4-12"


def is_guid(text: str) -> bool:
    """Return whether a text has the shape of an id in Entra or of a subscription."""
    return re.fullmatch(_GUID, text) is not None


def _guid(noun: str) -> AfterValidator:
    def check(text: str) -> str:
        if not is_guid(text):
            raise ValueError(f"must be {noun}: {GUID_SHAPE}")
        return text

    return AfterValidator(check)


def _subnet_id(text: str) -> str:
    match = re.fullmatch(_SUBNET, text)
    if not match:
        shape = "/subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Network/virtualNetworks/NAME/subnets/NAME"
        raise ValueError(f"is not a subnet's id: {shape}")
    for part in ("group", "network", "subnet"):
        if len(match[part]) > LABELLED_NAME_MAX:
            raise ValueError(
                f"the name of the {part} must have at most {LABELLED_NAME_MAX} characters, as AKS uses it as a label"
            )
    return text


def _disk_set_id(text: str) -> str:
    if not re.fullmatch(_DISK_SET, text):
        shape = "/subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Compute/diskEncryptionSets/NAME"
        raise ValueError(f"is not a disk encryption set's id: {shape}")
    return text


def _key_id(text: str) -> str:
    shape = "/subscriptions/ID/resourceGroups/NAME/providers/Microsoft.KeyVault/vaults/NAME/keys/NAME/versions/VERSION"
    if text.startswith("https://"):
        raise ValueError(f"is the key's URL, which lacks the vault's resource group; use its id: {shape}")
    if not re.fullmatch(_KEY, text):
        raise ValueError(f"is not a key version's id: {shape}")
    return text


def _private_zone_id(text: str) -> str:
    shape = "/subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Network/privateDnsZones/NAME"
    if "/dnszones/" in text.lower():
        raise ValueError(f"is a public zone, in which everyone could look the API up; use a private one: {shape}")
    if not re.fullmatch(_PRIVATE_ZONE, text):
        raise ValueError(f"is not a private DNS zone's id: {shape}")
    return text


def _dns_zone_id(text: str) -> str:
    if not re.fullmatch(_DNS_ZONE, text):
        shape = "/subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Network/dnszones/NAME (or privateDnsZones)"
        raise ValueError(f"is not a DNS zone's id: {shape}")
    return text


def _registry_id(text: str) -> str:
    if ".azurecr.io" in text:
        raise ValueError("is the registry's address; use its id: /subscriptions/ID/resourceGroups/NAME/providers/...")
    if not re.fullmatch(_REGISTRY, text):
        shape = "/subscriptions/ID/resourceGroups/NAME/providers/Microsoft.ContainerRegistry/registries/NAME"
        raise ValueError(f"is not a registry's id: {shape}")
    return text


def _vault_key_id(text: str) -> str:
    shape = "/subscriptions/ID/resourceGroups/NAME/providers/Microsoft.KeyVault/vaults/NAME/keys/NAME"
    if text.startswith("https://"):
        raise ValueError(f"is the key's URL, which lacks the vault's resource group; use its id: {shape}")
    if "/versions/" in text:
        raise ValueError(f"is a version of a key, and roles are assigned on the key itself: {shape}")
    if not re.fullmatch(_VAULT_KEY, text):
        raise ValueError(f"is not a key's id: {shape}")
    return text


def _storage_account(name: str) -> str:
    if not re.fullmatch(_STORAGE_ACCOUNT, name):
        raise ValueError("must be a storage account's name alone: 3 to 24 lower-case letters or digits")
    return name


def _container(name: str) -> str:
    if not re.fullmatch(_CONTAINER, name) or len(name) > CONTAINER_NAME_MAX:
        raise ValueError("must be a container's name alone: 3 to 63 lower-case letters, digits or single '-'")
    return name


def _resource_group(name: str) -> str:
    if not re.fullmatch(_RESOURCE_GROUP, name, re.ASCII):
        raise ValueError("must be a resource group's name: 1 to 90 letters, digits, '-', '_', '.' or parentheses")
    return name


def zone_name(zone_id: str) -> str:
    """Return the name of a zone, which is a domain, from its id."""
    return zone_id.rpartition("/")[2]


def group_of(resource_id: str) -> str:
    """Return the id of the resource group of a resource."""
    return resource_id.partition("/providers/")[0]


def subscription_of(resource_id: str) -> str:
    """Return the subscription of a resource."""
    return resource_id.split("/")[2]


def is_private_zone(zone_id: str) -> bool:
    """Return whether only networks that are linked to a zone know its names."""
    return "/privateDnsZones/" in zone_id


def key_vault_id(key_id: str) -> str:
    """Return the id of a key's vault, on which roles are assigned."""
    return _key_part(key_id)["vault"]


def key_address(key_id: str) -> str:
    """Return the address under which Azure's services use a key: https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates."""
    match = _key_part(key_id)
    return f"https://{match['vault_name'].lower()}.vault.azure.net/keys/{match['key']}/{match['version']}"


def _key_part(key_id: str) -> re.Match[str]:
    match = re.fullmatch(_KEY, key_id)
    if not match:
        raise ValueError("is not a key version's id")
    return match


def role_assignment_name(scope: str, principal: str, role: str) -> str:
    """Return the name of a role assignment, which must be a GUID in Azure.

    The name is derived, so that a run after a killed one finds the assignment again.

    Parameters
    ----------
    scope
        Id of the role's scope.
    principal
        Principal: our own name for an identity that does not exist yet, or its object id.
    role
        Id of the role's definition.
    """
    return str(uuid5(NAMESPACE_URL, f"{scope.lower()}\n{principal}\n{role.lower()}"))


def account_tag_problems(tags: Mapping[str, str]) -> Iterator[str]:
    """Yield why a storage account cannot have the tags of a stack file in addition to ours."""
    every = {*tags, *(tag.value for tag in AzureTag if tag is not AzureTag.TOOK_OVER)}
    if len(every) > ACCOUNT_TAGS_MAX:
        ours = f"a storage account takes {ACCOUNT_TAGS_MAX}, and {len(every) - len(tags)} are this package's"
        yield f"is impossible with {len(tags)} cluster.tags: {ours}; remove some"
    if long := [key for key in tags if len(key) > ACCOUNT_TAG_KEY_MAX]:
        limit = f"a storage account takes keys of at most {ACCOUNT_TAG_KEY_MAX} characters"
        yield f"is impossible with the key '{long[0][:20]}...' of cluster.tags: {limit}; shorten it"


def _tag_key(key: str) -> str:
    if not 0 < len(key) <= TAG_KEY_MAX or not _TAG_KEY.fullmatch(key):
        raise ValueError(rf"a tag's key must be 1 to {TAG_KEY_MAX} characters without < > % & \ ? /")
    for prefix in RESERVED_TAG_PREFIXES:
        if key.lower().startswith(prefix):
            raise ValueError(f"the tag prefix '{prefix}' is reserved; use another")
    return key


def _tag_value(value: str) -> str:
    if len(value) > TAG_VALUE_MAX or not _TAG_VALUE.fullmatch(value):
        raise ValueError(f"a tag's value must be at most {TAG_VALUE_MAX} printable characters")
    return value


def _matching(pattern: str) -> Any:
    unnamed = re.sub(r"\?P<\w+>", "", pattern)  # JSON Schema's patterns spell named groups differently
    return Field(json_schema_extra={"pattern": f"^{unnamed}$"})


SubscriptionId = Annotated[str, _guid("a subscription's id"), _matching(_GUID)]
TenantId = Annotated[str, _guid("a tenant's id"), _matching(_GUID)]
ObjectId = Annotated[str, _guid("an object's id in Entra"), _matching(_GUID)]
Location = Annotated[str, AfterValidator(_location), Field(json_schema_extra={"enum": list(LOCATIONS)})]
SubnetId = Annotated[str, AfterValidator(_subnet_id), _matching(_SUBNET)]
DiskEncryptionSetId = Annotated[str, AfterValidator(_disk_set_id), _matching(_DISK_SET)]
KeyVersionId = Annotated[str, AfterValidator(_key_id), _matching(_KEY)]
DnsZoneId = Annotated[str, AfterValidator(_dns_zone_id), _matching(_DNS_ZONE)]
PrivateZoneId = Annotated[str, AfterValidator(_private_zone_id), _matching(_PRIVATE_ZONE)]
RegistryId = Annotated[str, AfterValidator(_registry_id), _matching(_REGISTRY)]
VaultKeyId = Annotated[str, AfterValidator(_vault_key_id), _matching(_VAULT_KEY)]
StorageAccountName = Annotated[str, AfterValidator(_storage_account), _matching(_STORAGE_ACCOUNT)]
ContainerName = Annotated[str, AfterValidator(_container), _matching(_CONTAINER)]
ResourceGroupName = Annotated[str, AfterValidator(_resource_group), _matching(_RESOURCE_GROUP)]
TagKey = Annotated[str, AfterValidator(_tag_key)]
TagValue = Annotated[str, AfterValidator(_tag_value)]
