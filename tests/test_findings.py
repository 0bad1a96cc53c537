"""The table of findings names tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "findings.md"
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROWS = [
    line
    for line in PAGE.read_text().splitlines()
    if line.startswith("|") and not line.startswith(("| finding |", "|---"))
]


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_a_finding_names_tests_that_exist_or_says_why_it_stays(row: str) -> None:
    _, tests, why = (cell.strip() for cell in row.strip("|").split("|"))
    named = TEST.findall(tests)
    assert named or (tests == "none" and why)
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(), f"{file} has no {name}"
