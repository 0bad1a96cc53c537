"""What jobs of a user namespace may do in the cloud, with the identity of their service account and without keys."""

import re
from collections.abc import Iterator
from enum import StrEnum
from ipaddress import IPv4Address
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic.alias_generators import to_camel

from components.contract.aws import KeyArn
from components.contract.azure import ContainerName, RegistryId, ResourceGroupName, StorageAccountName, VaultKeyId
from components.contract.choices import ContractModel, Explained, Findings
from components.contract.constraint_violation import Mismatch
from components.contract.labels import is_dns_label
from components.contract.mlrun_choices import AutoMountType, MlrunChoices

JOBS_ACCOUNT: Final = "igz-jobs"
"""Service account that each namespace with an identity gets; MLRun's and Nuclio's functions use it by default."""

NOBODYS_ACCOUNT: Final = "default"
"""Service account of pods that name none, core services among them."""

ACCOUNTS_MAX: Final = 19
"""Maximum number of accounts besides ``JOBS_ACCOUNT``: Entra trusts 20 accounts per identity.

entra-docs, ``workload-identity-federation-considerations.md`` (2024). EKS allows 5,000 associations per cluster.
"""

PREFIX_MAX: Final = 1024
"""Maximum length of an object's name in bytes: https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html."""

ENTRIES_MAX: Final = 50
"""Maximum number of entries of a list, far beyond what one policy holds."""


class Access(StrEnum):
    """How jobs may use data."""

    READ = "read"
    WRITE = "write"
    """Read, write and delete."""


_RESERVED_BUCKETS: Final = {
    **dict.fromkeys(("xn--", "sthree-", "amzn-s3-demo-"), str.startswith),
    **dict.fromkeys(("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3"), str.endswith),
}
"""Parts of names that S3 reserves: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html."""

_BUCKET: Final = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
_REPOSITORY: Final = r"([a-z0-9]+([._-][a-z0-9]+)*/)*([a-z0-9]+([._-][a-z0-9]+)*|\*)"
"""``repositoryName`` of ECR's API, or all below a path: botocore 1.44, ``data/ecr/2015-09-21/service-2.json``."""

REPOSITORY_MAX: Final = 256

_GROUP_EXAMPLE: Final = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/ml"
_REGISTRY_EXAMPLE: Final = f"{_GROUP_EXAMPLE}/providers/Microsoft.ContainerRegistry/registries/mlimages"

_GRANTS: Final = ("buckets", "repositories", "keys", "containers", "registries", "vault_keys")

_NOT_IN_PREFIXES: Final = "*?${}'\"\\"
"""Wildcards and variables of IAM, and quotes of Azure's conditions."""


def _is_address(text: str) -> bool:
    try:
        IPv4Address(text)
    except ValueError:
        return False
    return True


def _bucket(name: str) -> str:
    if name.startswith(("s3://", "arn:", "https://")):
        raise ValueError("must be a bucket's name alone, without s3://, arn: or https://; a path goes into prefix")
    if not re.fullmatch(_BUCKET, name) or ".." in name or _is_address(name):
        raise ValueError("is not a bucket's name: 3 to 63 lower-case letters, digits, '-' or '.'")
    for part, found in _RESERVED_BUCKETS.items():
        if found(name, part):
            raise ValueError(f"is not the name of a general purpose bucket: S3 reserves '{part}'")
    return name


def _prefix(prefix: str) -> str:
    if not prefix:
        return prefix
    if prefix.startswith("/"):
        raise ValueError("must not begin with '/': names of objects do not")
    if bad := sorted({char for char in prefix if char in _NOT_IN_PREFIXES or not char.isprintable()}):
        raise ValueError(f"must not contain {' '.join(map(repr, bad))}; name a path, such as vision/")
    if not prefix.endswith("/"):
        raise ValueError(f"must end with '/': '{prefix}' would also open '{prefix}-other/'")
    if len(prefix.encode()) > PREFIX_MAX:
        raise ValueError(f"must have at most {PREFIX_MAX} bytes")
    return prefix


def _repository(name: str) -> str:
    if ".amazonaws.com" in name or name.startswith(("arn:", "https://")):
        raise ValueError("must be a repository's name without the registry, such as vision/train or vision/*")
    if name == "*":
        raise ValueError("would open every repository of the account; name a path, such as vision/*")
    if not re.fullmatch(_REPOSITORY, name) or len(name) > REPOSITORY_MAX:
        raise ValueError("must be a repository's name such as vision/train, or a path with all below it: vision/*")
    return name


def _account(name: str) -> str:
    if name == NOBODYS_ACCOUNT:
        raise ValueError("is the account of every pod that names none, including core services; use a separate account")
    if name == JOBS_ACCOUNT:
        raise ValueError("always has the identity; remove it")
    if not is_dns_label(name):
        raise ValueError("must be a service account's name: 1 to 63 lower-case letters, digits or '-'")
    return name


BucketName = Annotated[str, AfterValidator(_bucket), Field(json_schema_extra={"pattern": f"^{_BUCKET}$"})]
Prefix = Annotated[str, AfterValidator(_prefix), Field(json_schema_extra={"pattern": "^([^/].*/)?$"})]
RepositoryName = Annotated[str, AfterValidator(_repository), Field(json_schema_extra={"pattern": f"^{_REPOSITORY}$"})]
AccountName = Annotated[str, AfterValidator(_account)]


class BucketGrant(ContractModel):
    """Objects of an S3 bucket that jobs may use."""

    bucket: BucketName = Field(description="Name of the bucket, which you create.", examples=["ml-data"])
    prefix: Annotated[Prefix, Explained("The whole bucket.")] = Field(
        "", description="Beginning of the objects' names, up to and including a `/`.", examples=["vision/"]
    )
    access: Annotated[Access, Explained("Least rights.")] = Field(
        Access.READ, description="`read`, or `write` for read, write and delete.", examples=["write"]
    )


class ContainerGrant(ContractModel):
    """Blobs of a container in a storage account that jobs may use."""

    account: StorageAccountName = Field(
        description="Name of the storage account, which you create.", examples=["mldata"]
    )
    resource_group: ResourceGroupName = Field(description="Resource group of the account.", examples=["data"])
    container: ContainerName = Field(description="Name of the container.", examples=["vision"])
    prefix: Annotated[Prefix, Explained("The whole container.")] = Field(
        "", description="Beginning of the blobs' names, up to and including a `/`.", examples=["raw/"]
    )
    access: Annotated[Access, Explained("Least rights.")] = Field(
        Access.READ, description="`read`, or `write` for read, write and delete.", examples=["write"]
    )


class RegistryGrant(ContractModel):
    """A registry of Azure that jobs may use, as a whole."""

    registry_id: RegistryId = Field(
        description="Id of the registry.",
        examples=[_REGISTRY_EXAMPLE],
    )
    access: Annotated[Access, Explained("Least rights.")] = Field(
        Access.READ, description="`read` pulls, `write` pushes too.", examples=["write"]
    )


class RepositoryGrant(ContractModel):
    """Images of ECR in the cluster's account and region that jobs may use."""

    repository: RepositoryName = Field(
        description="A repository, or all below a path: `vision/*`.", examples=["vision/*"]
    )
    access: Annotated[Access, Explained("Least rights.")] = Field(
        Access.READ, description="`read` pulls, `write` pushes too.", examples=["write"]
    )


class CloudIdentity(ContractModel):
    """Rights of a namespace's jobs in the cloud."""

    buckets: Annotated[
        tuple[BucketGrant, ...],
        Explained("Access must be granted explicitly.", "The policy of the namespace's IAM role."),
    ] = Field(
        (),
        max_length=ENTRIES_MAX,
        description="EKS: objects in S3.",
        examples=[[{"bucket": "ml-data", "prefix": "vision/", "access": "write"}]],
    )
    repositories: Annotated[
        tuple[RepositoryGrant, ...],
        Explained("Nodes pull images with their own role; builds push only if this allows it.", "The same policy."),
    ] = Field(
        (),
        max_length=ENTRIES_MAX,
        description="EKS: images in ECR.",
        examples=[[{"repository": "vision/*", "access": "write"}]],
    )
    keys: Annotated[
        tuple[KeyArn, ...],
        Explained(
            "Buckets with S3's own keys need none.",
            "The same policy: use of the keys through S3 only. The key's policy must delegate access to IAM.",
        ),
    ] = Field(
        (),
        max_length=ENTRIES_MAX,
        description="EKS: KMS keys that encrypt these buckets.",
        examples=[["arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555"]],
    )
    containers: Annotated[
        tuple[ContainerGrant, ...],
        Explained("Access must be granted explicitly.", "Role assignments on the containers, with conditions."),
    ] = Field(
        (),
        max_length=ENTRIES_MAX,
        description="AKS: blobs in Azure Storage.",
        examples=[
            [{"account": "mldata", "resourceGroup": "data", "container": "vision", "prefix": "raw/", "access": "write"}]
        ],
    )
    registries: Annotated[
        tuple[RegistryGrant, ...],
        Explained("Nodes pull images with their own identity.", "Role assignments on the registries."),
    ] = Field(
        (),
        max_length=ENTRIES_MAX,
        description="AKS: container registries.",
        examples=[[{"registryId": _REGISTRY_EXAMPLE}]],
    )
    vault_keys: Annotated[
        tuple[VaultKeyId, ...],
        Explained(
            "Azure Storage decrypts by itself with any key; jobs need keys only for data that they encrypt themselves.",
            "The role Key Vault Crypto User on each key. The vault must use Azure RBAC.",
        ),
    ] = Field(
        (),
        max_length=ENTRIES_MAX,
        description="AKS: keys of Key Vault that jobs encrypt, decrypt and sign with.",
        examples=[[f"{_GROUP_EXAMPLE}/providers/Microsoft.KeyVault/vaults/ml-keys/keys/models"]],
    )
    accounts: Annotated[
        tuple[AccountName, ...],
        Explained(f"Only {JOBS_ACCOUNT} has the identity.", "Service accounts, which this stack creates."),
    ] = Field(
        (),
        max_length=ACCOUNTS_MAX,
        description=f"Further service accounts with the same identity, besides {JOBS_ACCOUNT}.",
        examples=[["sparkapp"]],
    )

    @field_validator(
        "buckets", "repositories", "keys", "containers", "registries", "vault_keys", "accounts", mode="after"
    )
    @classmethod
    def _are_given_once(cls, entries: tuple[Any, ...]) -> tuple[Any, ...]:
        findings, seen = Findings(), set()
        for index, entry in enumerate(entries):
            what = tuple(entry.model_dump(exclude={"access"}).values()) if isinstance(entry, ContractModel) else entry
            if what in seen:
                findings.add("is given twice; keep one", index)
            seen.add(what)
        findings.raise_if_any()
        return entries

    @field_validator("keys", mode="after")
    @classmethod
    def _encrypt_buckets(cls, keys: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if keys and info.data.get("buckets") == ():
            raise ValueError("only open objects of encrypted buckets; name these under buckets, or remove this")
        return keys

    @model_validator(mode="after")
    def _grants_something(self) -> Self:
        if not any(getattr(self, key) for key in _GRANTS):
            raise ValueError("grants nothing; name buckets or repositories, on AKS containers or registries")
        return self

    @property
    def service_accounts(self) -> tuple[str, ...]:
        """Service accounts with the identity."""
        return (JOBS_ACCOUNT, *self.accounts)


def other_clouds(namespace: str, identity: CloudIdentity, keys: tuple[str, ...], cloud: str) -> Iterator[Mismatch]:
    """Find grants of an identity that belong to another cloud; paths begin at the namespaces.

    Parameters
    ----------
    keys
        Names of the fields that exist on this cloud.
    cloud
        Its name in the message.
    """
    for key in _GRANTS:
        if key not in keys and getattr(identity, key):
            known = ", ".join(map(to_camel, keys))
            yield Mismatch((namespace, "identity", key), f"does not exist on {cloud}; there use {known}")


def key_problem(mlrun: MlrunChoices, identity: CloudIdentity) -> str | None:
    """Return why functions would use a static key that MLRun mounts, and not the identity; None if they use it."""
    mount = mlrun.auto_mount
    if not (mount and mount.type is AutoMountType.S3 and identity.buckets):
        return None
    if not (secret := mount.parameters.get("secret_name")):
        return None
    return (
        f"HI-01: functions would get the key in the Secret '{secret}', which S3 clients prefer to their identity; "
        "remove secret_name"
    )
