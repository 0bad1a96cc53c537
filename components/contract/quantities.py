"""Kubernetes resource quantities, as far as sizes of nodes, limits and quotas need them."""

from decimal import Decimal, InvalidOperation
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


def parse_quantity(text: str) -> Decimal:
    """Return the plain number that a quantity such as ``500m`` or ``4Gi`` stands for.

    Raises
    ------
    ValueError
        If ``text`` is no quantity, names a suffix that resources of pods do not use, or is negative.
    """
    number = text.rstrip("kKMGTim")
    suffix = text[len(number) :]
    try:
        value = Decimal(number) * _SUFFIXES[suffix]
    except (InvalidOperation, KeyError):
        allowed = ", ".join(s for s in _SUFFIXES if s)
        raise ValueError(f"'{text}' is no quantity: give a number, then none or one of {allowed}") from None
    if not value.is_finite() or value < 0:
        raise ValueError(f"'{text}' is no quantity: it must be finite and not negative")
    return value
