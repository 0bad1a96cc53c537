"""How many entries a mapping of the stack file may have."""

from typing import Any, Final

from pydantic import AfterValidator

ENTRIES_MAX: Final = 200
"""Maximum number of pools and of user namespaces, far beyond any cluster: a larger number is a mistake."""


def _few(entries: dict[str, Any]) -> dict[str, Any]:
    if len(entries) > ENTRIES_MAX:
        raise ValueError(f"has {len(entries)} entries, at most {ENTRIES_MAX} are allowed")
    return entries


Few = AfterValidator(_few)
