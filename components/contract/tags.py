"""Tags that all clouds share."""

from collections.abc import Iterable
from typing import Final

from components.contract.choices import Findings

MANAGER: Final = "igz-clusters"
"""Value of the tag ``managed-by``."""


def refuse_other_case(ours: Iterable[str], tags: Iterable[str], judge: str) -> None:
    """Refuse tags that differ from ``ours`` or from an earlier one in case only.

    EC2 treats them as two tags, IAM rejects them as duplicates, Azure keeps one of the two. ``judge`` is the name, for
    the message, of the service that treats them as one.
    https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html
    https://learn.microsoft.com/azure/aks/use-tags
    """
    seen, findings = {key.lower(): key for key in ours}, Findings()
    for key in tags:
        if (first := seen.setdefault(key.lower(), key)) != key:
            findings.add(
                f"differs from '{first}' in case only, and {judge} treats both as one tag; spell it '{first}'", key
            )
    findings.raise_if_any()
