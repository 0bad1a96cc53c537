import re

from policies import reference
from policies.not_enforceable import NOT_ENFORCEABLE
from policies.registry import RULES


def test_the_page_in_the_repository_is_current() -> None:
    assert reference.PAGE.read_text(encoding="utf-8") == reference.render(), "run python -m policies.reference --write"


def test_every_link_of_a_message_has_its_anchor() -> None:
    page = reference.render()
    anchors = [rule.anchor for rule in RULES] + ["could-not-be-judged"]
    assert all(page.count(f'<a id="{anchor}"></a>') == 1 for anchor in anchors)


def test_every_link_to_a_file_leads_to_one() -> None:
    links = re.findall(r"\]\((\.\./[^)]+)\)", reference.render())
    assert links
    assert [link for link in links if not (reference.PAGE.parent / link).is_file()] == []


def test_the_coverage_table_has_every_rule_and_everything_without_one() -> None:
    page = reference.render()
    coverage = page[page.index("## Coverage") : page.index(f'<a id="{RULES[0].anchor}"></a>')]
    assert [rule.id for rule in RULES if coverage.count(f"| [{rule.id}](#{rule.anchor}) |") != 1] == []
    assert [entry.advice for entry in NOT_ENFORCEABLE if f"| {entry.advice} | {entry.reason} |" not in coverage] == []


def test_the_coverage_table_says_which_rules_admission_knows() -> None:
    rows = [line for line in reference.render().splitlines() if line.count("|") == 6 and "preview and update" in line]
    at_admission = {row.split("[")[1].split("]")[0] for row in rows if "; admission of " in row}
    assert at_admission == {rule.id for rule in RULES if rule.admission}
