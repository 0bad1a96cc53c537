"""Storage that many pods mount at once, and the volumes of user namespaces on it."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from components.contract.choices import ContractModel, Explained
from components.contract.labels import is_dns_label

STORAGE_NAME_MAX: Final = 20
"""Maximum length of a storage's name: the names of its class and of resources of the clouds contain it."""

CLAIM_NAME_MAX: Final = 32
"""Maximum length of a claim's name. With its namespace it is a directory, and EFS allows paths of 100 characters.

https://docs.aws.amazon.com/efs/latest/ug/API_RootDirectory.html
"""

VOLUMES_MAX: Final = 20
"""Maximum number of volumes of a namespace. 200 namespaces with as many stay within 10,000 access points of EFS."""

CLASS_PREFIX: Final = "igz-"

_NAME: Final = rf"[a-z]([-a-z0-9]{{0,{STORAGE_NAME_MAX - 2}}}[a-z0-9])?"


class Purpose(StrEnum):
    """What a storage is for; it decides backups, protection and what becomes of a deleted claim's data."""

    HOME = "home"
    """Homes and results of people."""

    DATASET = "dataset"
    """Data that jobs read, and models that they write."""

    SCRATCH = "scratch"
    """Intermediate results that can be computed again."""

    @property
    def is_kept(self) -> bool:
        """Whether a loss of the data is a loss to somebody."""
        return self is not Purpose.SCRATCH


class Storage(ContractModel):
    """Choices about one shared storage."""

    purpose: Annotated[
        Purpose,
        Explained(
            decides="Backups; protection from deletion in prod; the reclaim policy of the storage class: Retain, for "
            "scratch Delete."
        ),
    ] = Field(description="What the storage is for.", examples=["dataset"])
    type: Annotated[
        Literal["files"],
        Explained(decides="What the cloud creates: an EFS file system on EKS."),
    ] = Field(description="Type of the storage: files, a file system that grows with its content.", examples=["files"])
    backups: Annotated[
        bool | None,
        Explained("Homes and datasets are backed up; scratch data can be computed again.", "Daily backups."),
    ] = Field(None, strict=True, description="Whether the cloud backs it up every day.", examples=[False])

    @property
    def has_backups(self) -> bool:
        """Whether it is backed up."""
        return self.purpose.is_kept if self.backups is None else self.backups


class Volume(ContractModel):
    """Choices about one volume of a namespace."""

    storage: Annotated[str, Explained(decides="A directory of its own in that storage.")] = Field(
        description="Name of the storage that it is in.", examples=["corpus"]
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
