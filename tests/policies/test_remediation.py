"""Remedies on the wire: in place, only where a stack asks for it, and nothing behind a mark is touched."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from google.protobuf import json_format
from pulumi.runtime.proto import analyzer_pb2 as proto
from pulumi_policy import EnforcementLevel

from policies.examples import Example, load
from policies.registry import RULES
from policies.remediation import Draft
from policies.resource import Resource
from policies.rule import Context, Finding, Rule
from policies.sdk import Servicer, policies
from support.rules import a_rule

SIGNATURE = "4dabf18193072939515e22adb298388d"
SECRET = {SIGNATURE: "1b47061264138c4ac30d75fd1eb44270", "value": "hunter2"}
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def remedy(draft: Draft, _: Context) -> None:
    draft.set("required", "options", "tokens")
    for disk in draft.elements("disks"):
        disk.set("true", "encrypted")


def unless_required(resource: Resource, _: Context) -> Iterator[Finding]:
    if resource.props.at("options", "tokens").text() != "required":
        yield Finding("wrong.")


def remediate(
    inputs: dict[str, Any],
    *,
    level: int = proto.REMEDIATE,
    rule: Rule[Any] | None = None,
    settings: dict[str, Any] | None = None,
) -> Any:
    rule = rule or a_rule(unless_required, remedy=remedy)
    servicer = Servicer("test", "0", policies([rule]), EnforcementLevel.ADVISORY)
    config = {rule.name: proto.PolicyConfig(enforcementLevel=level)}
    config[rule.name].properties.update(settings or {})
    servicer.Configure(proto.ConfigureAnalyzerRequest(policyConfig=config), None)
    request = proto.AnalyzeRequest(type="t", name="n", urn="u")
    request.properties.update(inputs)
    return [
        (json_format.MessageToDict(r.properties), r.diagnostic) for r in servicer.Remediate(request, None).remediations
    ]


def test_what_is_wrong_is_mended_and_all_else_stays() -> None:
    before = {"options": {"hops": 1}, "disks": [{"size": 1}, {"encrypted": "false"}], "password": SECRET}
    [(after, said)] = remediate(before)
    assert after == {
        "options": {"hops": 1, "tokens": "required"},
        "disks": [{"size": 1, "encrypted": "true"}, {"encrypted": "true"}],
        "password": SECRET,
    }
    assert said == ""


def test_maps_that_lead_there_are_made() -> None:
    assert remediate({}) == [({"options": {"tokens": "required"}}, "")]


def test_what_is_right_already_is_no_remediation() -> None:
    assert remediate({"options": {"tokens": "required"}, "disks": []}) == []


@pytest.mark.parametrize("level", [proto.MANDATORY, proto.ADVISORY, proto.DISABLED])
def test_nothing_is_mended_unless_the_stack_asks_for_it(level: int) -> None:
    assert remediate({}, level=level) == []


@pytest.mark.parametrize("mark", [SECRET, UNKNOWN, "text", 3.0])
def test_a_mark_on_the_way_stops_the_remedy_and_undoes_what_it_did(mark: Any) -> None:
    [(after, said)] = remediate({"options": {"tokens": "no"}, "disks": [{"encrypted": "false"}, mark]})
    assert after == {}
    assert said.startswith("[XX-01] could not be fixed automatically: disks[1] ")
    assert "hunter2" not in said


def test_what_cannot_be_judged_is_not_touched() -> None:
    assert remediate({"options": UNKNOWN}) == remediate({"options": {"tokens": UNKNOWN}}) == []


def test_a_secret_in_the_place_itself_stays() -> None:
    [(after, said)] = remediate({"options": {"tokens": SECRET}})
    assert (after, "options.tokens is unknown or secret" in said) == ({}, True)


MENDED = [
    (rule, example)
    for rule in RULES
    if rule.remedy
    for example in load()
    if example.rule == rule.id and not example.is_stack and example.outcome["expect"] == [rule.id]
]


@pytest.mark.parametrize(("rule", "example"), MENDED, ids=lambda x: getattr(x, "name", ""))
def test_a_bad_example_is_good_after_the_rules_remedy(rule: Rule[Any], example: Example) -> None:
    [given] = example.resources
    config = {rule.name: proto.PolicyConfig(enforcementLevel=proto.REMEDIATE)}
    servicer = Servicer("test", "0", policies([rule]), EnforcementLevel.ADVISORY)
    servicer.Configure(proto.ConfigureAnalyzerRequest(policyConfig=config), None)
    request = proto.AnalyzeRequest(type=given.type, name="n", urn="u")
    request.properties.update(given.props)
    remediations = servicer.Remediate(request, None).remediations
    if given.type in LEFT_TO_PEOPLE:
        assert not remediations
        return
    [mended] = remediations
    request.properties.CopyFrom(mended.properties)
    assert [d.message for d in servicer.Analyze(request, None).diagnostics] == []


LEFT_TO_PEOPLE = {
    "kubernetes:core/v1:Node",
    "kubernetes:core/v1:ConfigMap",
    "azure-native:containerservice:ManagedCluster",
}


def test_what_is_waived_is_not_mended() -> None:
    row = {"rule": "XX-01", "stack": "s", "resource": "t::n", "reason": "r", "owner": "o", "ticket": "T"}
    row["expires"] = str(datetime.now(tz=UTC).date())
    assert remediate({}, settings={"waivers": [row]}) == []


def test_advice_and_a_crash_are_no_reason_to_mend() -> None:
    def crashes(_: Resource, __: Context) -> Iterator[Finding]:
        raise KeyError
        yield

    for check in (crashes, lambda *_: iter([Finding("better.", advice=True)])):
        assert remediate({}, rule=a_rule(check, remedy=remedy)) == []


def test_a_remedy_that_crashes_changes_nothing_and_shows_no_value() -> None:
    def crashes(draft: Draft, _: Context) -> None:
        draft.set("x", "y")
        raise KeyError("hunter2")

    [(after, said)] = remediate({"a": 1}, rule=a_rule(lambda *_: iter([Finding("wrong.")]), remedy=crashes))
    assert (after, said) == ({}, "[XX-01] could not be fixed automatically: it crashed: KeyError")
