"""Storage that many pods mount at once, and the volumes of user namespaces on it."""

import re
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator, Field, ValidationInfo, field_validator
from pydantic.alias_generators import to_camel

from components.contract.choices import ContractModel, Explained
from components.contract.constraint_violation import Mismatch
from components.contract.labels import is_dns_label
from components.contract.pool_names import PoolZone
from components.contract.storage import CLASS_NAME_MAX, CLASS_NAME_PATTERN, class_name_of

STORAGE_NAME_MAX: Final = 20
"""Maximum length of a storage's name: the names of its class and of resources of the clouds contain it."""

CLAIM_NAME_MAX: Final = 32
"""Maximum length of a claim's name. It and its namespace name a directory, and EFS allows paths of 100 characters.

https://docs.aws.amazon.com/efs/latest/ug/API_RootDirectory.html
"""

VOLUMES_MAX: Final = 20
"""Maximum number of volumes of a namespace. With as many, 200 namespaces stay within 10,000 access points of EFS."""

SIZE_GIB_MAX: Final = 102_400
"""Maximum size of a volume in GiB, that of Azure's file shares.

azure-rest-api-specs, Microsoft.Storage 2024-01-01, ``file.json``.
"""

LUSTRE_STEP: Final = 2400
LUSTRE_SIZES: Final = (LUSTRE_STEP // 2, *range(LUSTRE_STEP, SIZE_GIB_MAX + 1, LUSTRE_STEP))
"""Sizes of a Lustre file system in GiB; AWS names no largest one, so the limit of other volumes applies.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
"""

_LUSTRE_SIZE: Final = f"{LUSTRE_SIZES[0]}, or a multiple of {LUSTRE_STEP} up to {LUSTRE_SIZES[-1]}"

CLASS_PREFIX: Final = "igz-"

OWN_CLASS: Final = "names a class of an existing cluster; remove it: the stack makes a class of its own"
"""Why ``storageClass`` is refused if the stack creates the storage."""

_NAME: Final = rf"[a-z]([-a-z0-9]{{0,{STORAGE_NAME_MAX - 2}}}[a-z0-9])?"


class Purpose(StrEnum):
    """What a storage is for; it decides backups, protection and whether a deleted claim's data is kept."""

    HOME = "home"
    """Homes and results of people."""

    DATASET = "dataset"
    """Data that jobs read, and models that they write."""

    SCRATCH = "scratch"
    """Intermediate results that can be computed again."""

    @property
    def is_kept(self) -> bool:
        """Whether the data cannot be computed again."""
        return self is not Purpose.SCRATCH


class StorageType(StrEnum):
    """Type of a storage."""

    FILES = "files"
    """A file system that all zones mount by NFS."""

    LUSTRE = "lustre"
    """A parallel file system in one zone, for jobs that need more throughput than one server has."""


class Redundancy(StrEnum):
    """Where the copies of a storage's data are."""

    ZONES = "zones"
    """In three zones of the region."""

    LOCAL = "local"
    """In one data centre: if it is lost, the data is lost."""


class Storage(ContractModel):
    """Choices about one shared storage."""

    purpose: Annotated[
        Purpose,
        Explained(
            decides="Backups; whether its loss needs an approval; protection from deletion in prod; the reclaim policy "
            "of the storage class: Retain, for scratch Delete."
        ),
    ] = Field(description="What the storage is for.", examples=["dataset"])
    type: Annotated[
        StorageType,
        Explained(
            decides="What the cloud creates: an EFS file system on EKS, a storage account with NFS shares on AKS; for "
            "lustre an FSx file system."
        ),
    ] = Field(
        description="Type of the storage: files, or lustre, a parallel file system in one zone, on EKS only.",
        examples=["files"],
    )
    backups: Annotated[
        bool | None,
        Explained(
            "Homes and datasets are backed up; scratch data can be computed again.",
            "Daily backups on EKS; on AKS whether deleted shares can be restored for 14 days.",
        ),
    ] = Field(None, strict=True, description="Whether the cloud keeps deleted data.", examples=[False])
    redundancy: Annotated[
        Redundancy | None,
        Explained(
            "Copies in several zones outlive the loss of one.",
            "On AKS the type of the storage account, which cannot change. EFS always has copies in all zones.",
        ),
    ] = Field(
        None,
        description="Where the copies are: zones, or local for Azure regions without file shares in several zones.",
        examples=["local"],
    )
    size_gib: Annotated[
        Annotated[int, Field(json_schema_extra={"minimum": LUSTRE_SIZES[0], "maximum": LUSTRE_SIZES[-1]})] | None,
        Explained("Files have the sizes of their volumes, or grow with their content.", "Its capacity and its cost."),
    ] = Field(
        None,
        strict=True,
        description="Size of a Lustre file system in GiB: 1200 or a multiple of 2400. It can grow, but never shrink.",
        examples=[2400],
    )
    zone: Annotated[
        PoolZone | None,
        Explained("Files are in all zones.", "Where the file system is, and every pod that mounts it."),
    ] = Field(None, description="Zone of a Lustre file system, one of cluster.zones.", examples=["a"])
    storage_class: Annotated[
        Annotated[
            str,
            AfterValidator(class_name_of),
            Field(max_length=CLASS_NAME_MAX, json_schema_extra={"pattern": CLASS_NAME_PATTERN}),
        ]
        | None,
        Explained("If the stack creates the storage, it creates its class too."),
    ] = Field(
        None,
        description="Storage class of an existing cluster whose volumes many nodes can mount at once.",
        examples=["nfs"],
    )

    @field_validator("type", mode="after")
    @classmethod
    def _outlives_a_zone(cls, type_: StorageType, info: ValidationInfo) -> StorageType:
        if type_ is StorageType.LUSTRE and info.data.get("purpose") is Purpose.HOME:
            raise ValueError("is in one zone, and homes must outlive a zone; use files")
        return type_

    @field_validator("size_gib", mode="after")
    @classmethod
    def _is_a_size_of_lustre(cls, size: int | None, info: ValidationInfo) -> int | None:
        if _is_of_lustre(size, info, _LUSTRE_SIZE) and size not in LUSTRE_SIZES:
            raise ValueError(f"must be {_LUSTRE_SIZE}, the sizes of a Lustre file system")
        return size

    @field_validator("zone", mode="after")
    @classmethod
    def _is_the_zone_of_lustre(cls, zone: str | None, info: ValidationInfo) -> str | None:
        _is_of_lustre(zone, info, "one of cluster.zones, where the file system and its pods are")
        return zone

    @property
    def is_lustre(self) -> bool:
        """Whether it is a Lustre file system: in one zone, and mounted as a whole."""
        return self.type is StorageType.LUSTRE

    @property
    def has_backups(self) -> bool:
        """Whether it is backed up."""
        return self.purpose.is_kept if self.backups is None else self.backups

    @property
    def copies(self) -> Redundancy:
        """Where the copies of its data are."""
        return self.redundancy or Redundancy.ZONES


def _is_of_lustre(value: object, info: ValidationInfo, allowed: str) -> bool:
    """Return whether a value is set that type ``lustre`` requires and other types refuse; raise if it does not fit."""
    type_ = info.data.get("type")
    if type_ is StorageType.LUSTRE and value is None:
        raise ValueError(f"is required with type lustre: {allowed}")
    if type_ is StorageType.FILES and value is not None:
        raise ValueError("is for type lustre; remove it")
    return value is not None


class Volume(ContractModel):
    """Choices about one volume of a namespace."""

    storage: Annotated[str, Explained(decides="A separate directory in that storage.")] = Field(
        description="Name of the storage that it is in.", examples=["corpus"]
    )
    size_gib: Annotated[
        int | None,
        Explained("File systems on EKS grow with their content and have no size.", "Its capacity and its cost."),
    ] = Field(
        None,
        ge=1,
        le=SIZE_GIB_MAX,
        strict=True,
        description="Size in GiB; required on AKS and on existing clusters.",
        examples=[200],
    )


def _storage_name(name: str) -> str:
    if not re.fullmatch(_NAME, name):
        raise ValueError(
            f"a storage's name must be 1 to {STORAGE_NAME_MAX} lower-case letters, digits or '-', start with a letter "
            "and not end with '-'"
        )
    return name


def _claim_name(name: str) -> str:
    if not is_dns_label(name) or len(name) > CLAIM_NAME_MAX:
        raise ValueError(
            f"a claim's name must be 1 to {CLAIM_NAME_MAX} lower-case letters, digits or '-', without '-' at either end"
        )
    return name


StorageName = Annotated[str, AfterValidator(_storage_name), Field(json_schema_extra={"pattern": f"^{_NAME}$"})]
ClaimName = Annotated[
    str,
    AfterValidator(_claim_name),
    Field(json_schema_extra={"pattern": f"^[a-z0-9]([-a-z0-9]{{0,{CLAIM_NAME_MAX - 2}}}[a-z0-9])?$"}),
]


def class_name(storage: str) -> str:
    """Return the name of a storage's class."""
    return f"{CLASS_PREFIX}{storage}"


def volume_name(namespace: str, claim: str) -> str:
    """Return the name of the cluster-wide volume of a claim; neither part contains a dot."""
    return f"{CLASS_PREFIX}{namespace}.{claim}"


Volumes = Mapping[tuple[str, str], Volume]
"""Volumes by namespace and claim."""


def unusable(storage: Mapping[str, Storage], keys: Collection[str], why: str) -> Iterator[Mismatch]:
    """Find choices about shared storage that a kind of cluster does not have; paths begin at ``storage``.

    Parameters
    ----------
    keys
        The keys, by their names in ``Storage``.
    why
        Why the kind of cluster has none, and what to do.
    """
    for name, each in storage.items():
        for key in keys:
            if getattr(each, key) is not None:
                yield Mismatch((name, to_camel(key)), why)


def files_only(storage: Mapping[str, Storage]) -> Iterator[Mismatch]:
    """Find Lustre file systems, on a kind of cluster for which the stack creates none; paths begin at ``storage``."""
    for name, each in storage.items():
        if each.is_lustre:
            yield Mismatch((name, "type"), "lustre is for cluster.kind eks; use files")


def size_problems(volumes: Volumes, sizes: range, what: str) -> Iterator[Mismatch]:
    """Find volumes without a possible size; paths begin at the stack file's ``namespaces``.

    Parameters
    ----------
    sizes
        Possible sizes in GiB.
    what
        What the size is of, for the message.
    """
    bounds = f"from {sizes.start} to {sizes[-1]}"
    for (namespace, claim), volume in volumes.items():
        path = (namespace, "volumes", claim, "sizeGib")
        if volume.size_gib is None:
            yield Mismatch(path, f"is required: the size of {what} in GiB, {bounds}")
        elif volume.size_gib not in sizes:
            yield Mismatch(path, f"must be {bounds}, the sizes of {what} (given: {volume.size_gib})")
