"""Shared storage on EKS: what EFS and FSx would refuse, and the names of its file systems."""

from collections.abc import Iterator, Mapping
from typing import Final

from components.contract.constraint_violation import Mismatch
from components.contract.eks.config import EksConfig
from components.contract.names import composed
from components.contract.shared_storage import OWN_CLASS, Storage, Volumes, unusable

CREATION_TOKEN_MAX: Final = 64
"""Maximum length of a file system's token: https://docs.aws.amazon.com/efs/latest/ug/API_CreateFileSystem.html."""

NO_CHOICE: Final = "is for AKS; remove it: EFS keeps copies in all zones of the region, FSx for Lustre in one"
NO_SIZES: Final = "is impossible: EFS has no size and grows with its content, and Lustre has one for all; remove it"


def storage_problems(choices: EksConfig, storage: Mapping[str, Storage]) -> Iterator[Mismatch]:
    """Find shared storage that EFS or FSx would refuse."""
    yield from unusable(storage, ("storage_class",), OWN_CLASS)
    yield from unusable(storage, ("redundancy",), NO_CHOICE)
    for name, each in storage.items():
        length = len(creation_token(choices.name, name))
        if each.zone and each.zone not in choices.zones:
            yield Mismatch((name, "zone"), f"is not one of cluster.zones, {', '.join(choices.zones)}")
        elif not each.is_lustre and length > CREATION_TOKEN_MAX:
            yield Mismatch(
                (name,),
                f"has {length} characters with the cluster's name and a '.', EFS takes {CREATION_TOKEN_MAX}; choose a "
                "shorter name",
            )


def volume_problems(_: EksConfig, volumes: Volumes) -> Iterator[Mismatch]:
    """Find volumes with a size, which file systems on EKS do not support."""
    for (namespace, claim), volume in volumes.items():
        if volume.size_gib is not None:
            yield Mismatch((namespace, "volumes", claim, "sizeGib"), NO_SIZES)


def creation_token(cluster: str, storage: str) -> str:
    """Return the token that identifies a file system in EFS from its creation on, unique in the account."""
    return composed(cluster, storage)
