"""Links of the documents lead to files and headings that exist, and the README's numbers are today's."""

import re
from functools import cache
from pathlib import Path

import pytest

from policies.admission import entries
from policies.registry import RULES
from support.documents import DOCUMENTS
from tools.site.markdown import anchors
from workbench.system.paths import PROJECT_ROOT

README = (PROJECT_ROOT / "README.md").read_text()


@pytest.mark.parametrize("file", DOCUMENTS)
def test_its_links_lead_to_files(file: str) -> None:
    path = PROJECT_ROOT / file
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    targets = {target for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text) if "://" not in target}
    assert [target for target in sorted(targets) if not Path(path.parent, target).exists()] == []


@pytest.mark.parametrize("file", DOCUMENTS)
def test_its_links_lead_to_headings(file: str) -> None:
    path = PROJECT_ROOT / file
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    linked = set(re.findall(r"\]\(([^)#\s:]+\.md|)#([^)\s]+)\)", text))
    found = {(target, anchor): anchors_of(path.parent / target if target else path) for target, anchor in linked}
    assert [each for each in sorted(linked) if each[1] not in found[each]] == []


@cache
def anchors_of(path: Path) -> set[str]:
    return anchors(path.read_text())


def test_the_readme_counts_the_rules() -> None:
    assert f"{len(RULES)} policy rules" in README
    assert f"{len(entries())} of them also at admission" in README
