"""Tags that all clouds share."""

from collections.abc import Iterable, Iterator
from typing import Final

MANAGER: Final = "igz-clusters"
"""Value of the tag ``managed-by``."""


def differing_in_case(keys: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Return keys that differ from an earlier one only in case, each with that one.

    EC2 treats them as two tags, IAM rejects them as duplicates, Azure keeps one of the two.
    https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html https://learn.microsoft.com/azure/aks/use-tags
    """
    seen: dict[str, str] = {}
    for key in keys:
        if (first := seen.setdefault(key.lower(), key)) != key:
            yield key, first
