from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.quantities import parse_quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("500m", "0.5"),
        ("1k", 1000),
        ("1Ki", 1024),
        ("2Gi", 2**31),
        ("1G", 10**9),
        ("1.5Gi", 1610612736),
        ("0", 0),
        ("1e3", 1000),
        ("25E-1", "2.5"),
        ("1E", 10**18),
        ("2Ei", 2**61),
        ("100u", "0.0001"),
        ("5n", "0.000000005"),
        ("+1", 1),
        (".5", "0.5"),
        ("1.", 1),
    ],
)
def test_suffixes_mean_what_kubernetes_says(text: str, value: str | int) -> None:
    assert parse_quantity(text) == Decimal(value)


@pytest.mark.parametrize(
    "text",
    ["", "Gi", "-1", "1gi", "1 Gi", "nan", "Infinity", "1mm", "0x10", "one", "1e", "1e3m", "1e100", ".", "1.2.3"],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        parse_quantity(text)


@given(st.text(max_size=8))
def test_no_text_raises_anything_but_a_value_error(text: str) -> None:
    try:
        assert parse_quantity(text) >= 0
    except ValueError as error:
        assert "is not a quantity" in str(error)
