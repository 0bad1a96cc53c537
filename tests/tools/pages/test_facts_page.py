from types import ModuleType
from typing import Any

import pytest

from tools.pages import aws_inputs, azure_inputs
from tools.pages.facts_page import answered, counted, others
from workbench.offline.facts import Facts

CLOUDS = pytest.mark.parametrize("page", [aws_inputs, azure_inputs], ids=["aws", "azure"])


def facts(page: ModuleType) -> Facts[Any]:
    found: Facts[Any] = page.facts()
    return found


@CLOUDS
def test_the_page_is_current(page: ModuleType) -> None:
    assert page.PAGE.read_text() == page.page()


@CLOUDS
def test_every_type_has_a_section_that_names_what_replaces_it(page: ModuleType) -> None:
    sections = page.page().split("\n## ")[2:-2]
    assert [section.partition("\n")[0] for section in sections] == list(facts(page).resources)
    assert all("| Replaced by | " in section and "| Type only | " in section for section in sections)


@CLOUDS
def test_the_page_counts_every_fact_once(page: ModuleType) -> None:
    every = [counted(known) for known in facts(page).resources.values()]
    line = next(line for line in page.page().splitlines() if line.startswith("| all | "))
    assert line == f"| all | {sum(sourced for sourced, _ in every)} | {sum(assumed for _, assumed in every)} |"


@CLOUDS
def test_every_assumption_is_in_the_list_with_what_to_try(page: ModuleType) -> None:
    listed = page.page().partition("\n## Assumed\n")[2].partition("\n## ")[0]
    known = facts(page).resources.values()
    assumed = [each.assumed for one in known for each in (*answered(one), *others(one)) if each.assumed]
    assert listed.count("- [ ] ") == len(assumed) > 0
    assert all(each in listed for each in assumed)
