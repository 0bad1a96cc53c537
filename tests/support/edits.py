"""Stack documents with edits, as tests spell them."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any


def edited(document: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of ``document`` with ``changes``, whose keys are dotted paths; None removes a key."""
    changed = deepcopy(dict(document))
    for path, value in changes.items():
        *parents, last = path.split(".")
        here = changed
        for key in parents:
            here = here.setdefault(key, {})
        here.pop(last, None)
        if value is not None:
            here[last] = deepcopy(value)  # what the caller shares stays as it is
    return changed
