"""Everything that the documents ask for is either a rule or has its reason why not."""

from policies.not_enforceable import NOT_ENFORCEABLE
from policies.registry import RULES
from workbench.system.paths import PROJECT_ROOT

FAMILIES = {
    "NG": 29,
    "EN": 5,
    "PL": 8,
    "RS": 16,
    "PR": 8,
    "SP": 8,
    "JU": 5,
    "ST": 5,
    "VO": 4,
    "HE": 8,
    "HN": 8,
    "HA": 10,
    "HB": 2,
    "HI": 3,
    "HC": 1,
    "HT": 1,
    "HK": 14,
    "HW": 1,
}
"""How many recommendations each family has, numbered from 1."""

RECOMMENDATIONS = {f"{family}-{number:02}" for family, count in FAMILIES.items() for number in range(1, count + 1)}


def test_every_recommendation_is_a_rule_or_has_a_reason_why_not() -> None:
    covered = {rule.id for rule in RULES} | {entry.id for entry in NOT_ENFORCEABLE if entry.id}
    assert sorted(RECOMMENDATIONS - covered) == []


def test_no_rule_enforces_what_is_called_not_enforceable() -> None:
    assert {rule.id for rule in RULES} & {entry.id for entry in NOT_ENFORCEABLE} == set()


def test_only_ids_of_recommendations_are_used() -> None:
    used = {rule.id for rule in RULES} | {entry.id for entry in NOT_ENFORCEABLE if entry.id}
    assert sorted(used - RECOMMENDATIONS) == []


def test_advice_without_a_rule_names_its_document_and_its_reason() -> None:
    page = (PROJECT_ROOT / "docs" / "sources.md").read_text()
    for entry in NOT_ENFORCEABLE:
        assert f"| {entry.source.partition(',')[0]} |" in page
        assert entry.advice.endswith((".", "?"))
        assert entry.reason.endswith(".")
