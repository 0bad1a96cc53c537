import pytest

from policies.diagnostics import ABOUT_WAIVERS
from support.streams import stream
from workbench.report.event_payloads import PolicyMessage
from workbench.report.events import Stream, read
from workbench.report.findings import merged, own_findings
from workbench.report.model import Finding, FindingStatus, Judge

V, U, E, W, A = (
    FindingStatus.VIOLATED,
    FindingStatus.UNJUDGED,
    FindingStatus.EXCUSED,
    FindingStatus.WAIVED,
    FindingStatus.ADVISED,
)


def test_a_violation_is_its_parts() -> None:
    (found,) = own_findings(read(stream("violating")))
    assert (found.rule, found.standing, found.judge) == ("NG-11", V, Judge.OWN)
    assert found.urn.endswith("aws:eks/nodeGroup:NodeGroup::prod-workload")
    assert found.message == "pool 'workload' may grow to 200 nodes, wanted at most 100."
    assert found.fix.startswith("Set the largest size")
    assert (found.reference, found.waiver) == ("docs/policies.md#ng-11", "")


def test_a_waived_one_has_its_waiver() -> None:
    (found,) = own_findings(read(stream("waived")))
    assert found.standing is W
    assert found.waiver.endswith(" by ml-platform (OPS-1234: load test of the new scorer)")
    assert found.message == own_findings(read(stream("violating")))[0].message


def said(text: str, level: str) -> Finding:
    event = {"message": f"title\n{text}\n", "policyName": "xx-01-x", "policyPackName": "p", "enforcementLevel": level}
    return own_findings(Stream(said=[PolicyMessage.model_validate(event)]))[0]


WAIVED = "[XX-01] waived until 2026-12-31 by a (b: c). wrong. Fix: do. See docs/policies.md#xx-01"


@pytest.mark.parametrize(
    ("text", "level", "standing"),
    [
        ("[XX-01] wrong. Fix: do. See docs/policies.md#xx-01", "mandatory", V),
        ("[XX-01] wrong. Fix: do. See docs/policies.md#xx-01", "advisory", A),
        ("[XX-01] wrong. Fix: do. See docs/policies.md#xx-01", "a new level", V),
        ("[XX-01] could not be judged: x. See y", "mandatory", U),
        ("[XX-01] could not be judged: x. See y", "advisory", A),
        ("[XX-01] the rule crashed: x. See y", "mandatory", U),
        (WAIVED, "advisory", W),
        (WAIVED, "mandatory", V),
        ("what another pack says", "mandatory", V),
        ("what another pack says", "advisory", A),
    ],
)
def test_words_never_make_a_mandatory_finding_less(text: str, level: str, standing: FindingStatus) -> None:
    assert said(text, level).standing is standing


def test_messages_are_one_printable_line() -> None:
    found = said("[XX-01] a\x1b[31mb\x00c\nd\u202ee. Fix: do.", "mandatory")
    assert found.message.isprintable()
    assert found.fix == "do."


def finding(standing: FindingStatus, message: str = "wrong", urn: str = "u", reference: str = "") -> Finding:
    return Finding("NG-11", standing, Judge.OWN, urn, message, reference=reference)


@pytest.mark.parametrize(
    ("own", "base", "standing", "judge"),
    [
        (V, V, V, Judge.BOTH),
        (W, W, W, Judge.BOTH),
        (A, A, A, Judge.BOTH),
        (V, U, V, Judge.BOTH),
        (V, W, V, Judge.OWN),
        (W, V, E, Judge.OWN),
        (W, U, E, Judge.OWN),
        (A, V, V, Judge.BASE),
        (A, U, U, Judge.BASE),
        (V, A, V, Judge.OWN),
        (A, W, W, Judge.BASE),
    ],
)
def test_two_judges_make_one_finding(
    own: FindingStatus, base: FindingStatus, standing: FindingStatus, judge: Judge
) -> None:
    (found,) = merged([finding(own)], [finding(base)])
    assert (found.standing, found.judge) == (standing, judge)


def test_what_only_the_base_branch_says_was_weakened() -> None:
    assert [(f.standing, f.judge) for f in merged([], [finding(V)])] == [(V, Judge.BASE)]


def test_a_rule_that_changed_its_words_is_the_same_rule() -> None:
    found = merged([finding(V, "new words")], [finding(V, "old words")])
    assert [(f.message, f.judge) for f in found] == [("new words", Judge.BOTH)]


def test_a_row_excuses_all_that_the_rule_finds_in_the_resource() -> None:
    found = merged([finding(W, "one")], [finding(V, "one"), finding(V, "two")])
    assert [(f.message, f.standing) for f in found] == [("one", E), ("two", E)]


def test_a_row_for_another_resource_excuses_nothing() -> None:
    found = merged([finding(W, urn="other")], [finding(V)])
    assert [(f.urn, f.standing) for f in found] == [("u", V), ("other", W)]


def test_an_expired_row_of_the_base_branch_does_not_block_the_change_that_drops_it() -> None:
    expired = finding(V, "the waiver expired", urn="", reference=ABOUT_WAIVERS)
    assert merged([], [expired]) == []
    assert merged([expired], []) == [expired]
    assert len(merged([], [finding(V, "wrong", urn="")])) == 1
