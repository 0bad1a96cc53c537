from policies import admission
from policies.registry import RULES
from support.scratch_rules import SCRATCH


def test_the_data_in_the_repository_is_current() -> None:
    assert admission.DATA.read_text(encoding="utf-8") == admission.render(), "run python -m policies.admission --write"


def test_every_rule_with_a_form_for_admission_is_there_and_no_other() -> None:
    assert [entry["id"] for entry in admission.entries()] == [rule.id for rule in RULES if rule.admission]


def test_a_message_says_rule_fix_and_page_as_in_a_preview() -> None:
    for rule, entry in zip(SCRATCH, admission.entries(SCRATCH), strict=True):
        assert (entry["title"], entry["advice"]) == (rule.title, f"Fix: {rule.fix} [{rule.id}]")


def test_every_rule_links_to_a_public_page_that_requires_it() -> None:
    assert [entry["id"] for entry in admission.entries() if not entry["source"].startswith("https://")] == []


def test_every_rule_says_either_what_complies_or_what_does_not() -> None:
    assert [e["id"] for e in admission.entries() if bool(e["expression"]) is bool(e["culprits"])] == []
