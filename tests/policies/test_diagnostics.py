from datetime import date
from typing import Any

import pytest

from policies import diagnostics
from policies.registry import RULES
from policies.rule import Finding
from policies.waivers import Waiver
from support.policies import Wire
from support.rules import a_rule

WAIVER = Waiver(
    rule="XX-01",
    stack="dev",
    resource="t::name",
    reason="until (soon) it is over",
    owner="ml",
    ticket="OPS-1",
    expires=date(2026, 12, 31),
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_what_a_rule_says_is_read_back(rule: Any) -> None:
    text = f"{rule.title}\n{diagnostics.said_by(rule, diagnostics.violation(rule, 'x is 1. Fix: y. See z'))}\n"
    reference = f"{diagnostics.REFERENCE}#{rule.anchor}"
    assert diagnostics.read(text) == diagnostics.Said(rule.id, "x is 1. Fix: y. See z", rule.fix, reference)


def test_a_waiver_is_told_from_the_text_behind_it() -> None:
    rule = a_rule(lambda *_: iter(()))
    said = diagnostics.read(
        "title\n" + diagnostics.said_by(rule, diagnostics.waived(WAIVER, diagnostics.violation(rule, "wrong.")))
    )
    assert said is not None
    assert (said.waiver, said.message) == ("until 2026-12-31 by ml (OPS-1: until (soon) it is over)", "wrong.")


def test_doubt_and_crash_are_no_violations() -> None:
    rule = a_rule(lambda *_: iter(()))
    texts = {
        diagnostics.doubt(["x is unknown"]): True,
        diagnostics.crash(rule, "KeyError at a.py:1"): True,
        diagnostics.violation(rule, "it could not be judged: no"): False,
    }
    for text, is_unjudged in texts.items():
        said = diagnostics.read("title\n" + diagnostics.said_by(rule, text))
        assert said is not None
        assert said.is_unjudged is is_unjudged


def test_a_notice_refers_to_the_waivers() -> None:
    said = diagnostics.read(
        "title\n" + diagnostics.said_by(a_rule(lambda *_: iter(())), diagnostics.notice("the row expired."))
    )
    assert said == diagnostics.Said("XX-01", "the row expired.", reference=diagnostics.ABOUT_WAIVERS)


def test_what_the_servicer_sends_is_read_back() -> None:
    rule = a_rule(lambda *_: iter([Finding("x is wrong.")]))
    said = diagnostics.read(Wire([rule]).judge("t", {}).messages[0])
    assert said == diagnostics.Said("XX-01", "x is wrong.", rule.fix, f"{diagnostics.REFERENCE}#{rule.anchor}")


@pytest.mark.parametrize("message", ["", "title", "title\nno id", "title\n[x-1] no", "[NG-01] no title"])
def test_what_others_say_is_not_read(message: str) -> None:
    assert diagnostics.read(message) is None
