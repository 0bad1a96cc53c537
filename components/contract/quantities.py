"""Kubernetes resource quantities, as far as sizes of nodes, limits and quotas need them."""

import re
from decimal import Decimal
from typing import Final

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
        raise ValueError(f"'{text}' is no quantity: give a number, then none or one of {allowed}")
    return Decimal(match["number"]) * _SUFFIXES[match["suffix"]]
