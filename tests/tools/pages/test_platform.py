"""The page of what the documents ask for is current, and all that it names exists."""

import re

import pytest

from policies.registry import RULES
from tools.pages.platform import DOCUMENTS, PAGE, Row, State, page, rows, state
from workbench.cli.commands import COMMANDS
from workbench.system.paths import PROJECT_ROOT

ROWS = [row for several in rows().values() for row in several]
KEYS = {"demand", "from", "by", "rules", "tests", "outside", "partly", "errs"}


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "renew it: python -m tools.pages.platform --write"


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_a_demand_has_a_proof_or_a_reason(row: Row) -> None:
    assert set(row) <= KEYS
    assert {name for each in row["from"] for name in each} <= set(DOCUMENTS)
    assert ("by" in row) != ("outside" in row)
    assert state(row) is State.OUTSIDE or row.get("rules") or row.get("tests")
    assert all(row.get(key, "a reason") for key in ("outside", "partly", "errs"))
    assert set(row.get("rules", ())) <= {rule.id for rule in RULES}
    for file, _, name in (test.partition("::") for test in row.get("tests", ())):
        assert f"def {name}(" in (PROJECT_ROOT / file).read_text(), f"{file} has no {name}"


def test_commands_and_pages_that_it_names_exist() -> None:
    text = str(ROWS)
    assert set(re.findall(r"igz-clusters ([a-z]+)", text)) <= set(COMMANDS)
    named = re.findall(r"docs/[\w-]+\.md", text)
    assert named
    assert [each for each in named if not (PROJECT_ROOT / each).exists()] == []
