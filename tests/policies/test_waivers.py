"""Waivers on the wire: they soften exactly what they cover, and say so; out of order, they fail the run."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from policies import waivers
from policies.resource import Resource
from policies.rule import Context, Finding, WholeStack
from support.policies import Report, Wire
from support.rules import a_rule

TODAY = date(2026, 11, 21)
ROW = {
    "rule": "XX-01",
    "stack": "dev",
    "resource": "t::legacy*",
    "reason": "goes with the migration",
    "owner": "ml-platform",
    "ticket": "OPS-1",
    "expires": "2026-12-31",
}


@pytest.fixture(autouse=True)
def _on_one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waivers, "today", lambda: TODAY)
    monkeypatch.setenv("IGZ_CLUSTERS_POLICY_UNKNOWN", "fail")


def wrong(resource: Resource, _: Context) -> Iterator[Finding]:
    if resource.props.at("fine").text() is None:
        yield Finding("wrong.")


def judged(*rows: Any, name: str = "legacy-1", props: Any = None) -> Report:
    wire = Wire([a_rule(wrong)], config={"xx-01-made-up": {"waivers": list(rows)}})
    return wire.judge_stack([("t", name, props or {})])


def test_a_waived_violation_is_advice_that_names_who_why_and_until_when() -> None:
    report = judged(ROW)
    assert (report.violated, report.advised) == ([], ["XX-01"])
    said = "[XX-01] waived until 2026-12-31 by ml-platform (OPS-1: goes with the migration). wrong. Fix: Do better."
    assert said in report.messages[0]


def test_a_waiver_covers_its_own_resource_only_and_is_then_reported_as_unused() -> None:
    report = judged(ROW, name="other")
    assert (report.violated, report.advised) == (["XX-01"], ["XX-01"])
    assert (
        "the waiver OPS-1 of ml-platform for t::legacy* covers no violation. Fix: remove the row." in report.messages[1]
    )


def test_a_rule_that_cannot_be_judged_is_waived_too() -> None:
    assert judged(ROW, props={"fine": "<unknown>"}).violated == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"expires": "2026-11-20"}, "expired on 2026-11-20. Fix: correct the resource or renew the waiver."),
        ({"expires": "2027-02-20"}, "is invalid: it runs until 2027-02-20, but 2027-02-19 is the latest allowed day."),
        ({"owner": " "}, "a waiver is invalid: check owner."),
        ({"ticket": None, "expires": "soon"}, "a waiver is invalid: check expires, ticket."),
        ({"rule": "NG-01"}, "is invalid: it is a waiver of NG-01."),
        ({"forever": True}, "a waiver is invalid: check forever."),
    ],
)
def test_a_waiver_out_of_order_fails_the_run_and_softens_nothing(change: dict[str, Any], said: str) -> None:
    report = judged({**ROW, **change})
    assert (report.violated, report.advised) == (["XX-01", "XX-01"], [])
    assert said in report.messages[1]
    assert report.messages[1].endswith("See docs/policies.md#waivers")


@pytest.mark.parametrize("expires", ["2026-11-21", "2027-02-19"])
def test_the_first_and_the_last_day_count(expires: str) -> None:
    assert judged({**ROW, "expires": expires}).violated == []


@pytest.mark.parametrize("rows", [["text"], [None], [[]], [3]])
def test_what_is_no_row_is_refused(rows: list[Any]) -> None:
    assert "a waiver is invalid: check the row." in judged(*rows).messages[1]


def test_a_waiver_covers_the_resource_that_a_stack_rule_names() -> None:
    def check(stack: Any, _: Context) -> Iterator[Finding]:
        yield from (Finding("wrong.", urn=resource.urn) for resource in stack)
        yield Finding("nobody is at fault.")

    rule = a_rule(check, applies_to=WholeStack())
    wire = Wire([rule], config={"xx-01-made-up": {"waivers": [ROW]}})
    report = wire.judge_stack([("t", "legacy-1", {}), ("t", "other", {})])
    assert (len(report.violated), len(report.advised)) == (2, 1)


def test_what_is_no_resources_fault_is_waived_by_the_word_stack_and_by_no_pattern() -> None:
    def check(_: Any, __: Context) -> Iterator[Finding]:
        yield Finding("nobody is at fault.")

    for resource, violated in (("stack", []), ("*", ["XX-01"])):
        config = {"xx-01-made-up": {"waivers": [{**ROW, "resource": resource}]}}
        report = Wire([a_rule(check, applies_to=WholeStack())], config=config).judge_stack([("t", "legacy-1", {})])
        assert report.violated == violated


@pytest.mark.parametrize("name", ["legacy[1]", "legacy?"])
def test_only_a_star_is_more_than_itself(name: str) -> None:
    assert judged({**ROW, "resource": f"t::{name}"}, name=name).violated == []
    assert judged({**ROW, "resource": f"t::{name}"}, name="legacy1").violated == ["XX-01"]


def test_no_waiver_silences_a_rule_that_crashed() -> None:
    def crashes(_: Any, __: Context) -> Iterator[Finding]:
        raise KeyError
        yield

    wire = Wire([a_rule(crashes)], config={"xx-01-made-up": {"waivers": [{**ROW, "resource": "*"}]}})
    assert wire.judge("t", {}).violated == ["XX-01"]
