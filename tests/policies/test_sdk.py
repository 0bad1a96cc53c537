from collections.abc import Iterator
from typing import Any

import pytest
from pulumi.runtime.proto import analyzer_pb2 as proto

from components.contract.component_package import CLUSTER_TYPE
from components.contract.environments import Environment
from policies.rule import Context, EachOf, Finding, Level, WholeStack
from policies.values import UNKNOWN, NotJudgeableError
from policies.wire import plain
from support.policies import UNKNOWN as UNKNOWN_TEXT
from support.policies import Wire
from support.rules import ANYTHING, a_rule

M, A, OFF = Level.MANDATORY, Level.ADVISORY, Level.OFF


@pytest.fixture(autouse=True)
def _outside_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("IGZ_CLUSTERS_POLICY_UNKNOWN", raising=False)


def wrong(_: Any, context: Context) -> Iterator[Finding]:
    yield Finding(f"judged as {context.environment}.")


def reads_x(resource: Any, _: Context) -> Iterator[Finding]:
    if resource.props.at("x").integer() is None:
        yield Finding("x is absent.")


def test_numbers_arrive_as_floats_and_are_read_as_whole_numbers() -> None:
    def check(resource: Any, _: Context) -> Iterator[Finding]:
        yield Finding(f"x is {resource.props.at('x').integer()}.")

    assert "x is 2." in Wire([a_rule(check)]).judge("t", {"x": 2}).messages[0]


def test_an_absent_value_is_a_violation_where_the_rule_says_so() -> None:
    assert Wire([a_rule(reads_x)]).judge("t", {}).violated == ["XX-01"]


def test_an_unknown_value_is_noted_and_is_no_violation() -> None:
    report = Wire([a_rule(reads_x)]).judge("t", {"x": UNKNOWN_TEXT})
    assert (report.violated, report.unjudged) == ([], ["XX-01"])
    assert (
        "[XX-01] could not be judged: x is not known yet. See docs/policies.md#could-not-be-judged"
        in report.messages[0]
    )


@pytest.mark.parametrize(
    ("ci", "variable", "outcome"),
    [
        ("true", None, "violated"),
        ("1", None, "violated"),
        ("woodpecker", None, "violated"),
        ("false", None, "unjudged"),
        ("true", "NOTE", "unjudged"),
        (None, "error", "violated"),
        (None, "fail", "violated"),
        ("true", "note", "unjudged"),
    ],
)
def test_in_ci_a_mandatory_rule_that_cannot_be_judged_fails_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, ci: str | None, variable: str | None, outcome: str
) -> None:
    for name, value in {"CI": ci, "IGZ_CLUSTERS_POLICY_UNKNOWN": variable}.items():
        if value:
            monkeypatch.setenv(name, value)
    report = Wire([a_rule(reads_x)]).judge("t", {"x": UNKNOWN_TEXT})
    expected = {"violated": [], "unjudged": [], outcome: ["XX-01"]}
    assert {"violated": report.violated, "unjudged": report.unjudged} == expected


def test_an_advisory_rule_that_cannot_be_judged_never_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    report = Wire([a_rule(reads_x, A, A)]).judge("t", {"x": UNKNOWN_TEXT})
    assert (report.violated, report.unjudged) == ([], ["XX-01"])


def test_what_was_found_before_an_unknown_value_stays_found() -> None:
    def check(resource: Any, context: Context) -> Iterator[Finding]:
        yield Finding("found first.")
        yield from reads_x(resource, context)

    report = Wire([a_rule(check)]).judge("t", {"x": UNKNOWN_TEXT})
    assert (report.violated, report.unjudged) == (["XX-01"], ["XX-01"])


def test_one_thing_that_cannot_be_judged_does_not_excuse_its_neighbour() -> None:
    def check(thing: str, _: Context) -> Iterator[Finding]:
        if thing == "foggy":
            raise NotJudgeableError(thing)
        yield Finding(f"{thing} is wrong.")

    scope = EachOf(noun="things", types=ANYTHING.types, find=lambda _: ("foggy", "clear"))
    report = Wire([a_rule(check, applies_to=scope)]).judge("t", {})
    assert (report.violated, report.unjudged) == (["XX-01"], ["XX-01"])


@pytest.mark.parametrize("scope", [ANYTHING, WholeStack()], ids=["resource", "stack"])
def test_a_rule_that_crashes_is_violated_and_shows_no_value(scope: Any) -> None:
    def check(_: Any, __: Context) -> Iterator[Finding]:
        raise KeyError("hunter2")
        yield

    report = Wire([a_rule(check, applies_to=scope)]).judge_stack([("t", "one", {})])
    assert report.violated == ["XX-01"]
    assert "the rule crashed: KeyError at test_sdk.py:" in report.messages[0]
    assert "hunter2" not in report.messages[0]


def test_a_message_has_one_form() -> None:
    assert Wire([a_rule(wrong)]).judge("t", {}).messages == [
        "A made-up rule\n[XX-01] judged as prod. Fix: Do better. See docs/policies.md#xx-01"
    ]


def test_a_resource_of_another_type_is_not_looked_at() -> None:
    report = Wire([a_rule(wrong)]).judge("tt", {})
    assert (report.messages, report.not_applicable) == ([], [])


@pytest.mark.parametrize(
    ("config", "stack", "tags", "expected"),
    [
        ("dev", {"environment": "prod"}, {"environment": "prod"}, "dev"),
        (None, {"environment": "dev"}, {"environment": "prod"}, "dev"),
        (None, {"profile": "iguazio"}, {"environment": "dev"}, "dev"),
        (None, None, {"environment": "dev"}, "dev"),
        (None, None, {}, "prod"),
        (None, {"environment": "staging"}, {"environment": "dev"}, "prod"),
        (None, "not json", {"environment": "dev"}, "dev"),
        (None, "[1]", {}, "prod"),
    ],
)
def test_the_environment_comes_from_rule_then_stack_then_tag_and_is_else_production(
    config: str | None, stack: Any, tags: dict[str, str], expected: str
) -> None:
    rule_config = {"xx-01-made-up": {"environment": config}} if config else {}
    report = Wire([a_rule(wrong)], stack=stack, tags=tags, config=rule_config).judge("t", {})
    assert f"judged as {expected}." in report.messages[0]


def test_a_program_in_another_language_is_judged_by_the_settings_of_its_component() -> None:
    wire = Wire([a_rule(wrong)])
    assert "judged as prod." in wire.judge("t", {}).messages[0]
    report = wire.judge_stack([(CLUSTER_TYPE, "main", {"environment": "dev", "pools": {}}), ("t", "one", {})])
    assert ["judged as dev." in message for message in report.messages] == [True]


@pytest.mark.parametrize(
    ("stack", "component", "expected"),
    [
        ({"environment": "prod"}, {"environment": "dev"}, "prod 100"),
        ({"environment": "dev"}, {"environment": "prod"}, "prod 100"),
        ({"environment": "dev"}, {"environment": "dev", "policies": {"largestPool": 900}}, "dev 100"),
        ({"environment": "dev", "policies": {"largestPool": 9}}, {"environment": "dev"}, "dev 9"),
        ({"environment": "dev", "base": "gone"}, {"environment": "dev", "policies": {"largestPool": 900}}, "prod 100"),
    ],
)
def test_a_component_loosens_no_rule_that_the_stack_file_selects(stack: Any, component: Any, expected: str) -> None:
    def check(_: Any, context: Context) -> Iterator[Finding]:
        yield Finding(f"{context.environment} {context.choices.largest_pool}.")

    report = Wire([a_rule(check)], stack=stack).judge_stack([(CLUSTER_TYPE, "main", component), ("t", "one", {})])
    assert [f"{expected}." in message for message in report.messages] == [True]


def test_the_policy_choices_of_a_component_count_also_those_that_are_numbers() -> None:
    def check(_: Any, context: Context) -> Iterator[Finding]:
        yield Finding(f"at most {context.choices.largest_pool}, tagged {context.choices.required_tags}.")

    inputs = {"environment": "dev", "policies": {"largestPool": 40, "requiredTags": ["team"]}}
    report = Wire([a_rule(check)]).judge_stack([(CLUSTER_TYPE, "main", inputs), ("t", "one", {})])
    assert ["at most 40, tagged ('team',)." in message for message in report.messages] == [True]


def test_nothing_is_left_of_an_earlier_stack() -> None:
    Wire([a_rule(wrong)], stack={"environment": "dev"})
    assert "judged as prod." in Wire([a_rule(wrong)]).judge("t", {}).messages[0]


@pytest.mark.parametrize(
    ("dev", "prod", "level"),
    [(M, M, proto.MANDATORY), (A, A, proto.ADVISORY), (OFF, M, proto.MANDATORY), (A, M, proto.MANDATORY)],
)
def test_the_engine_is_told_the_strictest_level_of_all_environments(dev: Level, prod: Level, level: int) -> None:
    assert Wire([a_rule(wrong, dev, prod)]).levels() == {"xx-01-made-up": level}


@pytest.mark.parametrize(("environment", "outcome"), [("dev", "advised"), ("prod", "violated")])
def test_what_is_said_has_the_level_of_the_environment(environment: str, outcome: str) -> None:
    report = Wire([a_rule(wrong, A, M)], stack={"environment": environment}).judge("t", {})
    expected = {"violated": [], "advised": [], outcome: ["XX-01"]}
    assert {"violated": report.violated, "advised": report.advised} == expected


def test_a_rule_that_is_off_is_reported_as_not_applicable() -> None:
    report = Wire([a_rule(wrong, OFF, M)], stack={"environment": "dev"}).judge("t", {})
    assert (report.messages, report.not_applicable) == ([], ["xx-01-made-up"])


def test_advice_of_a_mandatory_rule_never_fails_the_run() -> None:
    def check(_: Any, __: Context) -> Iterator[Finding]:
        yield Finding("wrong.")
        yield Finding("could be better.", advice=True)

    report = Wire([a_rule(check)]).judge("t", {})
    assert (report.violated, report.advised) == (["XX-01"], ["XX-01"])


def test_a_stack_rule_sees_resources_sorted_and_names_the_one_at_fault() -> None:
    def check(stack: Any, _: Context) -> Iterator[Finding]:
        yield Finding(",".join(resource.name for resource in stack), urn=stack[0].urn)

    report = Wire([a_rule(check, applies_to=WholeStack())]).judge_stack([("t", name, {}) for name in "cab"])
    assert "a,b,c" in report.messages[0]
    assert report.urns == ["urn:pulumi:test::igz-clusters::t::a"]


def test_options_reach_the_rule() -> None:
    def check(resource: Any, _: Context) -> Iterator[Finding]:
        yield Finding(f"{resource.protect} {resource.ignore_changes}")

    report = Wire([a_rule(check)]).judge("t", {}, protect=True, ignoreChanges=["a.b"])
    assert "True ('a.b',)" in report.messages[0]


def test_plain_keeps_unknown_values_apart_from_absent_ones() -> None:
    sentinel, number = "04da6b54-80e4-46f7-96ec-b56ff0331ba9", "3eeb2bf0-c639-47a8-9e75-3b44932eb421"
    given = {"a": [1.0, sentinel, {"b": None}], "c": "text", "d": number}
    assert plain(given) == {"a": [1.0, UNKNOWN, {"b": None}], "c": "text", "d": UNKNOWN}


def test_the_configuration_schema_offers_the_environments() -> None:
    [info] = Wire([a_rule(wrong)]).servicer.GetAnalyzerInfo(None, None).policies
    assert list(info.configSchema.properties["environment"]["enum"]) == list(Environment)


def test_a_stack_rule_judges_what_is_planned_for_an_object_that_has_no_outputs_yet() -> None:
    def check(stack: Any, _: Context) -> Iterator[Finding]:
        yield from (Finding(f"x is {each.props.at('x').integer()}.") for each in stack)

    wire = Wire([a_rule(check, applies_to=WholeStack())])
    assert "x is 3." in wire.judge_outputs([("t", "never-shown", {"x": 3})]).messages[0]
    wire.judge("t", {"x": 2}, "planned")
    assert "x is 2." in wire.judge_outputs([("t", "planned", {})]).messages[0]


def test_a_stack_rule_does_not_judge_what_was_refreshed_and_is_about_to_go() -> None:
    def check(stack: Any, _: Context) -> Iterator[Finding]:
        yield from (Finding(f"{each.name} is there.") for each in stack)

    wire = Wire([a_rule(check, applies_to=WholeStack())])
    wire.judge("t", {"x": 2}, "wanted")
    (message,) = wire.judge_outputs([("t", "wanted", {"x": 2}), ("t", "no-longer-in-the-program", {"x": 3})]).messages
    assert "wanted is there." in message


def test_a_rule_that_is_told_another_environment_than_the_stacks_says_so() -> None:
    rule = a_rule(wrong, OFF, M)
    wire = Wire([rule], stack={"environment": "prod"}, config={"xx-01-made-up": {"environment": "dev"}})
    report = wire.judge_stack([("t", "one", {})])
    assert (report.violated, report.advised) == ([], ["XX-01"])
    assert "[XX-01] is off by configuration; its own level is mandatory." in report.messages[0]


def test_no_message_shows_a_secret() -> None:
    def check(resource: Any, _: Context) -> Iterator[Finding]:
        yield Finding(f"x is {resource.props.at('x').text()} and {resource.props.at('y', 'z').text()}.")

    secret = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
    given = {"x": {**secret, "value": "hunter2"}, "y": {**secret, "value": {"z": "swordfish"}}}
    assert "x is [secret] and [secret]." in Wire([a_rule(check)]).judge("t", given).messages[0]
