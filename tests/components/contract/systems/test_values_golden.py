"""The values of each system on three clusters, as they were reviewed."""

from pathlib import Path

import pytest

from support.golden_values import GOLDEN, golden

TEXTS = dict(golden())


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.stem))
def test_the_values_are_the_reviewed_ones(path: Path) -> None:
    assert path.read_text() == TEXTS[path], "read the difference after `python -m support.golden_values` in tests/"


def test_no_reviewed_file_is_left_over() -> None:
    assert set(GOLDEN.iterdir()) == set(TEXTS)
