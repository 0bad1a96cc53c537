import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.contract.names import AUTOMATIC_END, automatic, beginning, composed

LABELS = st.lists(st.text(string.ascii_lowercase + string.digits + "-", min_size=1), min_size=1).map(tuple)
NAMES = st.text(string.ascii_letters + string.digits + "-._", min_size=1, max_size=150)
LIMITS = st.integers(50, 128)


@given(LABELS, st.data())
def test_parts_cut_elsewhere_give_another_name(parts: tuple[str, ...], data: st.DataObject) -> None:
    words = "-".join(parts).split("-")
    at = data.draw(st.lists(st.booleans(), min_size=len(words) - 1, max_size=len(words) - 1))
    regrouped = [words[0]]
    for word, begins in zip(words[1:], at, strict=True):
        if begins:
            regrouped.append(word)
        else:
            regrouped[-1] += f"-{word}"
    assert "-".join(regrouped) == "-".join(parts)
    assert (composed(*regrouped) == composed(*parts)) is (tuple(regrouped) == parts)


def test_a_part_with_a_dot_is_refused() -> None:
    with pytest.raises(ValueError, match=r"given 'a\.b', 'c\.'"):
        composed("x", "a.b", "c.")


@given(NAMES, LIMITS)
def test_a_name_that_fits_stays_as_it_is_and_another_one_fits(name: str, limit: int) -> None:
    assert len(automatic(name, limit)) + AUTOMATIC_END <= limit
    assert (automatic(name, limit) == name) is (len(name) + AUTOMATIC_END <= limit)


@given(NAMES, NAMES, LIMITS)
def test_names_that_are_cut_stay_different(one: str, two: str, limit: int) -> None:
    stem = "s" * limit
    assert (automatic(stem + one, limit) == automatic(stem + two, limit)) is (one == two)


@given(NAMES, NAMES, LIMITS)
def test_every_name_of_a_stack_begins_as_the_search_for_them_expects(stack: str, rest: str, limit: int) -> None:
    assert automatic(f"{stack}-{rest}", limit).startswith(beginning(stack, limit))
