"""Kubernetes resource quantities, as far as sizes of nodes, limits and quotas need them."""

import re
from decimal import Decimal
from typing import Annotated, Final

from pydantic import AfterValidator, Field

_SUFFIXES: Final = {
    "m": Decimal("0.001"),
    "": Decimal(1),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
}

_QUANTITY: Final = re.compile(rf"(?P<number>[0-9]+(\.[0-9]+)?)(?P<suffix>{'|'.join(filter(None, _SUFFIXES))}|)")


def parse_quantity(text: str) -> Decimal:
    """Return the plain number that a quantity such as ``500m`` or ``4Gi`` stands for.

    Raises
    ------
    ValueError
        If ``text`` is no quantity, is negative, or has a suffix or exponent that resources of pods do not use.
    """
    match = _QUANTITY.fullmatch(text)
    if not match:
        allowed = ", ".join(suffix for suffix in _SUFFIXES if suffix)
        raise ValueError(f"is no quantity: give a number, then none or one of {allowed}")
    return Decimal(match["number"]) * _SUFFIXES[match["suffix"]]


def _is_quantity(text: str) -> str:
    parse_quantity(text)
    return text


def _is_positive(text: str) -> str:
    if parse_quantity(text) == 0:
        raise ValueError("must be more than 0")
    return text


_SCHEMA: Final = Field(json_schema_extra={"pattern": f"^{re.sub('[?]P<[a-z]+>', '', _QUANTITY.pattern)}$"})

Quantity = Annotated[str, AfterValidator(_is_quantity), _SCHEMA]
"""A quantity as a stack file writes it; 0 is one."""

PositiveQuantity = Annotated[str, AfterValidator(_is_positive), _SCHEMA]
"""A quantity above 0."""
