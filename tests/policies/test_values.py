from collections.abc import Iterator
from decimal import Decimal

import pytest

from components.contract.pools import USER_ROLES
from policies.examples import changed
from policies.values import ASSUMED, UNKNOWN, NotJudgeableError, Value, are_among, each


@pytest.mark.parametrize(
    ("raw", "text", "amount"),
    [
        ("500m", "500m", "0.5"),
        (2.0, "2", 2),
        (0.5, "0.5", "0.5"),
        (4294967296.0, "4294967296", 2**32),
        ("1e3", "1e3", 1000),
    ],
)
def test_a_quantity_may_be_text_or_a_number_and_the_engine_sends_floats(
    raw: object, text: str, amount: str | int
) -> None:
    assert (Value(raw).quantity_text(), Value(raw).quantity()) == (text, Decimal(amount))


@pytest.mark.parametrize("raw", [UNKNOWN, "2GB", "", True, [], {}])
def test_what_is_no_quantity_is_not_judgeable(raw: object) -> None:
    with pytest.raises(NotJudgeableError, match="limits"):
        Value(raw, "limits").quantity()


def test_an_absent_quantity_is_none() -> None:
    assert (Value(None).quantity_text(), Value(None).quantity()) == (None, None)


def test_everything_that_can_be_judged_comes_before_the_first_doubt() -> None:
    def read(value: Value) -> Iterator[str | None]:
        yield value.text()

    found = each([Value("a"), Value(UNKNOWN, "first"), Value("b"), Value(UNKNOWN, "second")], read)
    assert [next(found), next(found)] == ["a", "b"]
    with pytest.raises(NotJudgeableError, match="first"):
        next(found)


def test_an_assumed_text_is_among_any() -> None:
    any_text, some_text = (assumed.text for assumed in ASSUMED)
    assert are_among([any_text, "a"], frozenset("a"))
    assert are_among([any_text], USER_ROLES)
    assert not are_among([some_text], {"a"})


def test_an_example_changes_elements_of_a_list_by_their_place() -> None:
    containers = [{"name": "main", "image": "a"}, {"name": "sidecar"}]
    assert changed(containers, {0: {"image": "b"}, 2: {"name": "new"}}) == [
        {"name": "main", "image": "b"},
        {"name": "sidecar"},
        {"name": "new"},
    ]
    assert changed(containers, {0: None}) == [{"name": "sidecar"}]
    assert changed(containers, []) == []
