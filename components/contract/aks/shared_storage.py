"""Shared storage on AKS: what Azure would refuse, and the names of its accounts and shares."""

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final

from components.contract.aks.config import AksConfig
from components.contract.aks.names import RESERVED_WORDS
from components.contract.azure import account_tag_problems
from components.contract.constraint_violation import Mismatch
from components.contract.shared_storage import (
    OWN_CLASS,
    SIZE_GIB_MAX,
    Redundancy,
    Storage,
    Volumes,
    files_only,
    size_problems,
    unusable,
)

SIZES: Final = range(100, SIZE_GIB_MAX + 1)
"""Possible sizes of a share in GiB: kubernetes-sigs/azurefile-csi-driver, ``docs/driver-parameters.md`` (2026)."""

SKUS: Final = {Redundancy.ZONES: "Premium_ZRS", Redundancy.LOCAL: "Premium_LRS"}
"""Types of a storage account with NFS shares."""

_WORD_LENGTH: Final = 12
_DIGITS: Final = 12
"""Length of the two parts of an account's name, which has at most 24 letters and digits."""

_SHARE_NAME_MAX: Final = 63
_SHARE_DIGITS: Final = 10


def storage_problems(choices: AksConfig, storage: Mapping[str, Storage]) -> Iterator[Mismatch]:
    """Find shared storage that Azure would refuse."""
    yield from unusable(storage, ("storage_class",), OWN_CLASS)
    yield from files_only(storage)
    for name in storage:
        if word := _forbidden(_word(name)):
            yield Mismatch((name,), f"would name a storage account with '{word}', which Azure forbids; rename it")
    for problem in account_tag_problems(choices.tags) if storage else ():
        yield Mismatch((), problem)


def volume_problems(_: AksConfig, volumes: Volumes) -> Iterator[Mismatch]:
    """Find volumes that a share cannot provide."""
    return size_problems(volumes, SIZES, "a share on AKS")


def account_name(choices: AksConfig, storage: str) -> str:
    """Return the name of a storage's account, which must be unique in all of Azure.

    The name is derived, so that a run after a killed one finds the account again.
    """
    place = f"{choices.group_id.lower()}\n{storage}"
    return f"{_word(storage)}{sha256(place.encode()).hexdigest()[:_DIGITS]}"


def share_name(namespace: str, claim: str) -> str:
    """Return the name of a volume's share, unique in its account: lower-case letters, digits and single dashes."""
    digits = sha256(f"{namespace}\n{claim}".encode()).hexdigest()[:_SHARE_DIGITS]
    words = re.sub("-+", "-", f"{namespace}-{claim}")[: _SHARE_NAME_MAX - _SHARE_DIGITS - 1]
    return f"{words.rstrip('-')}-{digits}"


def _word(storage: str) -> str:
    return storage.replace("-", "")[:_WORD_LENGTH]


def _forbidden(word: str) -> str:
    return next((each for each in RESERVED_WORDS if each in word), "login" if word.startswith("login") else "")
