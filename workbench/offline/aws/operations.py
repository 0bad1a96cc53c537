"""Maps each resource's inputs to requests of AWS's API, from ``operations.json``.

Names that differ only in case need no entry at any depth: ``subnetId`` is ``SubnetId``. A resource with several
requests lists all of them; the first one creates it, and only its required members are checked.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True)
class Request:
    """One request, and the places of inputs in it.

    Parameters
    ----------
    service, operation
        Names in botocore.
    members
        Place in the request by input, both as dotted paths; lists in between are skipped.
    inside
        Place of all other inputs, default the request itself; None if it takes only those in ``members``.
    supplied
        Required members that the provider fills in from elsewhere.
    """

    service: str
    operation: str
    members: Mapping[str, str] = field(default_factory=dict)
    inside: str | None = ""
    supplied: frozenset[str] = frozenset()


def _request(supplied: tuple[str, ...] = (), **fields: Any) -> Request:
    return Request(**fields, supplied=frozenset(supplied))


OPERATIONS: Final[Mapping[str, tuple[Request, ...]]] = {
    type_: tuple(_request(**each) for each in requests)
    for type_, requests in json.loads(Path(__file__).with_suffix(".json").read_bytes()).items()
}
"""Requests by resource type."""
