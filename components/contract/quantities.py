"""Kubernetes resource quantities: sizes of nodes, requests, limits and quotas."""

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Final

from pydantic import AfterValidator, Field

_SUFFIXES: Final = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("0.001"),
    "": Decimal(1),
    "k": Decimal(10) ** 3,
    "M": Decimal(10) ** 6,
    "G": Decimal(10) ** 9,
    "T": Decimal(10) ** 12,
    "P": Decimal(10) ** 15,
    "E": Decimal(10) ** 18,
    "Ki": Decimal(2) ** 10,
    "Mi": Decimal(2) ** 20,
    "Gi": Decimal(2) ** 30,
    "Ti": Decimal(2) ** 40,
    "Pi": Decimal(2) ** 50,
    "Ei": Decimal(2) ** 60,
}

_NUMBER: Final = r"\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)"
# Two digits of exponent suffice for any machine, and keep a typing error from becoming a huge number.
_SUFFIX: Final = rf"{'|'.join(filter(None, _SUFFIXES))}|[eE][-+]?[0-9]{{1,2}}|"
_QUANTITY: Final = re.compile(rf"(?P<number>{_NUMBER})(?P<suffix>{_SUFFIX})")


def parse_quantity(text: str) -> Decimal:
    """Return the number that a quantity such as ``500m``, ``4Gi`` or ``1e3`` represents.

    Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/

    Raises
    ------
    ValueError
        If ``text`` is not a quantity, or is negative.
    """
    match = _QUANTITY.fullmatch(text)
    if not match:
        allowed = ", ".join(suffix for suffix in _SUFFIXES if suffix)
        raise ValueError(f"is not a quantity: use a number, optionally followed by one of {allowed}")
    number, suffix = Decimal(match["number"]), match["suffix"]
    return number * _SUFFIXES[suffix] if suffix in _SUFFIXES else number.scaleb(int(suffix[1:]))


def within(least: str, most: str) -> Callable[[str], str]:
    """Return the check that a quantity is within bounds, for ``AfterValidator``."""

    def check(text: str) -> str:
        if not parse_quantity(least) <= parse_quantity(text) <= parse_quantity(most):
            raise ValueError(f"must be {least} to {most}")
        return text

    return check


def _is_quantity(text: str) -> str:
    parse_quantity(text)
    return text


def _is_positive(text: str) -> str:
    if parse_quantity(text) == 0:
        raise ValueError("must be more than 0")
    return text


_SCHEMA: Final = Field(json_schema_extra={"pattern": f"^{re.sub('[?]P<[a-z]+>', '', _QUANTITY.pattern)}$"})

Quantity = Annotated[str, AfterValidator(_is_quantity), _SCHEMA]
"""A quantity in a stack file; may be 0."""

PositiveQuantity = Annotated[str, AfterValidator(_is_positive), _SCHEMA]
"""A quantity above 0."""
