import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from components.contract.policy_guard import PolicyGuard
from policies.waivers import Approval, Waiver, today
from support.event_lines import events, kind, lines, resource, without
from support.streams import stream
from workbench import stacks
from workbench.report.events import read
from workbench.report.model import FindingStatus, Outcome, Source, StackReport
from workbench.report.verdict import Approvals, Case, judge


def judged(own: bytes | str, base: bytes | str | None = None, **more: Any) -> StackReport:
    streams = [None if each is None else read(stream(each) if isinstance(each, str) else each) for each in (own, base)]
    assert streams[0]
    return judge(Case("prod", more.pop("source", Source.COMPARED), streams[0], streams[1], **more))


ROW = Waiver(
    rule="NG-11",
    stack="prod",
    resource="aws:eks/nodeGroup:NodeGroup::prod-workload",
    reason="a benchmark",
    owner="ml",
    ticket="OPS-1",
    expires=today() + timedelta(days=10),
)


def approval(operation: str = "replace", resource: str = "*", days: int = 10, **more: Any) -> Approval:
    row = {"stack": "prod", "resource": resource, "operation": operation, "reason": "moved", "owner": "ml"}
    return Approval.model_validate({**row, "ticket": "OPS-1", "expires": today() + timedelta(days=days), **more})


@pytest.mark.parametrize("name", ["first", "unchanged", "larger", "waived", "grown", "made"])
def test_what_nothing_speaks_against_passes(name: str) -> None:
    found = judged(name)
    assert (found.outcome, found.reasons, found.problems) == (Outcome.PASSED, (), ())
    assert (found.environment, found.kind, found.rules) == ("prod", "eks", 111)


@pytest.mark.parametrize(
    ("name", "outcome", "reason"),
    [
        ("violating", Outcome.BLOCKED, "violated: NG-11"),
        ("broken", Outcome.BLOCKED, "the engine or the program reports an error"),
        ("refused", Outcome.BLOCKED, "the engine or the program reports an error"),
        ("replaced", Outcome.BLOCKED, "not approved: to replace the cluster prod-cluster"),
        ("killed", Outcome.UNJUDGED, "the plan is incomplete"),
        ("unjudged", Outcome.UNJUDGED, "the plan is incomplete"),
        ("one-pack", Outcome.UNJUDGED, "the plan is incomplete"),
    ],
)
def test_what_speaks_against_it_is_said(name: str, outcome: Outcome, reason: str) -> None:
    found = judged(name)
    assert found.outcome is outcome
    assert found.reasons[0].startswith(reason)


def test_a_program_that_ends_says_why() -> None:
    assert any("schemaVersion: is newer than version 1" in problem for problem in judged("broken").problems)


def test_one_process_may_serve_all_packs() -> None:
    served = stream("one-pack").replace(b"igz-clusters-best-practices", b"igz-clusters")
    found = judged(served)
    assert (found.outcome, found.problems) == (Outcome.PASSED, ())


def test_a_pack_that_was_not_attached_is_named() -> None:
    assert judged("one-pack").problems == ("the policy pack igz-clusters-hardening was not attached",)


GAPS = {
    "no policy events at all": (
        lambda: without("larger", "policyAnalyzeSummaryEvent", "policyAnalyzeStackSummaryEvent"),
        "evaluated 0 of 154 resources",
    ),
    "resources that were not judged": (
        lambda: lines(
            e
            for e in events("larger")
            if not (kind(e) == "policyAnalyzeSummaryEvent" and '::prod-workload"' in json.dumps(e))
        ),
        "evaluated 151 of 154 resources",
    ),
    "no rules over the whole stack": (
        lambda: without("larger", "policyAnalyzeStackSummaryEvent"),
        "did not evaluate the stack as a whole",
    ),
    "no steps": (lambda: without("larger", "resourcePreEvent", "resOutputsEvent"), "contains no resource steps"),
    "no summary": (lambda: without("larger", "summaryEvent"), "has no summaries"),
    "no end": (lambda: without("larger", "cancelEvent"), "is truncated"),
    "a line less": (lambda: b"".join(stream("larger").splitlines(keepends=True)[1:]), "is event 1, expected 0"),
    "an engine that gave up": (lambda: summary(result="failed"), "ended as 'failed' without an error message"),
    "an engine that was stopped": (lambda: summary(result="canceled"), "ended as 'canceled'"),
    "a state in doubt": (lambda: summary(maybeCorrupt=True), "may be in an invalid state"),
    "another stack": (
        lambda: stream("larger").replace(b"urn:pulumi:prod:", b"urn:pulumi:dev:"),
        "the stack dev, expected prod",
    ),
}


def summary(**changes: Any) -> bytes:
    found = events("larger")
    next(event for event in found if "summaryEvent" in event)["summaryEvent"].update(changes)
    return lines(found)


@pytest.mark.parametrize("case", GAPS)
def test_nothing_passes_by_silence(case: str) -> None:
    make, said = GAPS[case]
    for own, base in ((make(), None), ("larger", make())):
        found = judged(own, base)
        assert found.outcome is Outcome.UNJUDGED
        assert any(said in problem for problem in found.problems), found.problems


def test_a_change_that_weakens_its_rule_is_judged_by_the_base_branch() -> None:
    weakened = lines(event for event in events("violating") if kind(event) != "policyEvent")
    passed = lines(
        {**e, "summaryEvent": {**e["summaryEvent"], "result": "succeeded"}} if "summaryEvent" in e else e
        for e in map(json.loads, weakened.splitlines())
        if "preview failed" not in json.dumps(e)
    )
    assert judged(passed).outcome is Outcome.PASSED
    found = judged(passed, "violating")
    assert (found.outcome, found.reasons) == (
        Outcome.BLOCKED,
        ("violated, by the rules of the base branch: NG-11",),
    )


def test_a_new_row_excuses_and_asks_for_its_owners() -> None:
    found = judged("waived", "violating", new_waivers=[ROW])
    assert (found.outcome, found.reasons) == (Outcome.REVIEW, ("waived only by rows of the same change: NG-11",))
    assert [each.standing for each in found.findings] == [FindingStatus.EXCUSED]
    assert judged("waived", "waived").outcome is Outcome.PASSED


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [ROW.model_copy(update={"rule": "NG-12"})],
        [ROW.model_copy(update={"stack": "dev"})],
        [ROW.model_copy(update={"resource": "*::other"})],
        [ROW.model_copy(update={"expires": date(2026, 1, 1)})],
    ],
)
def test_what_the_changes_own_packs_call_waived_needs_a_row_of_the_change(rows: list[Waiver]) -> None:
    found = judged("waived", "violating", new_waivers=rows)
    assert (found.outcome, found.reasons) == (
        Outcome.BLOCKED,
        ("violated, by the rules of the base branch: NG-11",),
    )


def test_a_row_that_the_change_drops_excuses_no_more() -> None:
    assert judged("violating", "waived").outcome is Outcome.BLOCKED


def test_two_judges_must_have_seen_one_plan() -> None:
    assert any("evaluated different plans" in problem for problem in judged("larger", "unchanged").problems)


@pytest.mark.parametrize("name", ["broken", "refused", "destroyed"])
def test_a_judge_of_the_base_branch_that_fails_is_no_agreement(name: str) -> None:
    found = judged("larger", name)
    assert found.outcome is Outcome.UNJUDGED
    assert any(problem.startswith("with the base branch's rules, the run failed: ") for problem in found.problems)


@pytest.mark.parametrize("missing", ["policyAnalyzeSummaryEvent", "policyAnalyzeStackSummaryEvent"])
def test_a_row_does_not_hide_that_the_base_branch_did_not_judge_the_rest(missing: str) -> None:
    found = judged("waived", without("violating", missing))
    assert found.outcome is Outcome.UNJUDGED
    assert all(problem.startswith("with the base branch's rules: the policy pack ") for problem in found.problems)


@pytest.mark.parametrize(
    ("guard", "outcome"),
    [
        (None, Outcome.BLOCKED),
        (PolicyGuard.REQUIRED, Outcome.BLOCKED),
        (PolicyGuard.WARN, Outcome.REVIEW),
        (PolicyGuard.OFF, Outcome.PASSED),
    ],
)
def test_the_guard_decides_about_dangers(guard: PolicyGuard | None, outcome: Outcome) -> None:
    found = judged("replaced", guard=guard)
    assert found.outcome is outcome
    assert {danger.kind for danger in found.dangers} == {"cluster", "initial group", "live nodes"}


@pytest.mark.parametrize(
    ("approvals", "outcome"),
    [
        (Approvals([approval()]), Outcome.PASSED),
        (Approvals([], [approval()]), Outcome.REVIEW),
        (Approvals([approval()], [approval()]), Outcome.PASSED),
        (Approvals([approval(days=-1)]), Outcome.BLOCKED),
        (Approvals([approval("delete")]), Outcome.BLOCKED),
        (Approvals([approval(stack="dev")]), Outcome.BLOCKED),
        (Approvals([approval(resource="aws:eks/cluster:Cluster::*")]), Outcome.BLOCKED),
    ],
)
def test_a_dated_row_approves_dangers(approvals: Approvals, outcome: Outcome) -> None:
    found = judged("replaced", approvals=approvals)
    assert found.outcome is outcome
    assert all(danger.is_new for danger in found.dangers) is (outcome is Outcome.REVIEW)


def test_an_expired_approval_is_said_to_be() -> None:
    found = judged("replaced", approvals=Approvals([approval(days=-1)]))
    assert "the approval OPS-1 of ml to replace * expired on " in found.reasons[0]


def test_choices_that_a_base_adds_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(stacks.FOLDER_VARIABLE, str(tmp_path))
    found = events("replaced")
    config = next(event for event in found if "preludeEvent" in event)["preludeEvent"]["config"]
    own = json.loads(config["igz-clusters:stack"])
    own.pop("policyGuard", None)
    config["igz-clusters:stack"] = json.dumps({**own, "base": "acme"})
    (tmp_path / "Pulumi.prod.yaml").write_text("config: { 'igz-clusters:stack': {} }\n")
    base = tmp_path / "Base.acme.yaml"
    for guard, outcome in (("warn", Outcome.REVIEW), ("required", Outcome.BLOCKED)):
        base.write_text(f"schemaVersion: 1\nlayers: [{{ settings: {{ policyGuard: {guard} }} }}]\n")
        report = judged(lines(found))
        assert (report.environment, report.kind, report.outcome) == ("prod", "eks", outcome)
    base.unlink()
    assert judged(lines(found)).outcome is Outcome.BLOCKED


def test_of_an_unreadable_configuration_the_guard_is_the_strictest() -> None:
    found = events("replaced")
    next(event for event in found if "preludeEvent" in event)["preludeEvent"]["config"] = {"igz-clusters:stack": "{"}
    stack = judged(lines(found))
    assert (stack.outcome, stack.environment) == (Outcome.BLOCKED, "")


def test_hostile_names_and_messages_are_printable_text() -> None:
    name = "a\x00\x1b[2J\u202e<script>alert(1)</script>](http://x) @everyone"
    found = events("violating")
    for step in resource(found, "prod-workload"):
        step["urn"] = step["urn"].replace("prod-workload", name)
        step |= {key: step[key] and {**step[key], "urn": step["urn"]} for key in ("old", "new")}
    for event in found:
        if "policyEvent" in event:
            event["policyEvent"] |= {"message": f"title\n[NG-11] {name}\n{name}", "resourceUrn": name}
    stack = judged(lines(found))
    assert stack.outcome is Outcome.BLOCKED
    texts = [stack.findings[0].message, stack.findings[0].urn, *(change.name for change in stack.changes)]
    assert any("\\x1b[2J" in text for text in texts)
    assert all(text.isprintable() for text in texts)
