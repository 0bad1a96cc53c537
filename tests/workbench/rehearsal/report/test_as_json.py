import json
from dataclasses import fields, replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from support import outcomes
from workbench.rehearsal.outcome import Outcome
from workbench.rehearsal.report import as_json, shape
from workbench.rehearsal.report.comparison import Comparison, compare


def sample() -> dict[str, Any]:
    two = outcomes.night(), outcomes.night(gpu_max=6)
    shown = as_json.render(
        [*two, outcomes.skipped(), outcomes.calm(), outcomes.lost()],
        [compare(*two, names=("main", "HEAD"))],
        [outcomes.advice()],
    )
    document: dict[str, Any] = json.loads(shown)
    return document


def test_the_schema_in_the_documentation_is_that_of_the_models() -> None:
    assert as_json.SCHEMA.read_text() == as_json.schema(), "run python -m workbench.rehearsal.report.as_json --write"


def test_reports_have_exactly_the_keys_of_their_schema() -> None:
    schema = json.loads(as_json.schema())
    Draft202012Validator.check_schema(schema)
    for each in (schema, *schema["$defs"].values()):
        if "properties" in each:
            assert each["required"] == list(each["properties"])
            each["additionalProperties"] = False
    assert not list(Draft202012Validator(schema).iter_errors(sample()))


def test_the_schema_says_what_fields_mean() -> None:
    nodes = json.loads(as_json.schema())["$defs"]["NodeRecord"]["properties"]
    assert nodes["lifecycle"]["description"] == "`on-demand`, `spot` or `reserved`."
    assert nodes["created"]["description"] == "Seconds of the scenario since its start; negative before it."
    assert not [name for name, each in nodes.items() if "default" in each]


@pytest.mark.parametrize("key", ["schemaVersion", "outcomes", "isMet"])
def test_the_schema_refuses_a_report_without_a_key(key: str) -> None:
    document = sample()
    del document[key]
    assert list(Draft202012Validator(json.loads(as_json.schema())).iter_errors(document))


@pytest.mark.parametrize(("source", "target"), [(Outcome, shape.OutcomeShape), (Comparison, shape.ComparisonShape)])
def test_no_field_of_an_outcome_is_left_out(source: type, target: type[shape._Shape]) -> None:
    assert {field.name for field in fields(source)} <= set(target.model_fields)


def test_values_are_those_of_the_outcome() -> None:
    night = outcomes.night()
    assert night.record is not None
    shown = sample()["outcomes"][0]
    assert shown["isMet"] is False
    assert [each["expectation"] for each in shown["verdicts"]] == [each.expectation for each in night.verdicts]
    assert [(each["name"], each["end"], each["started"]) for each in shown["record"]["pods"]] == [
        (each.name, each.end.value, each.started) for each in night.record.pods
    ]
    assert shown["costs"]["byPool"]["gpu"]["usd"] == outcomes.costs(night.record).by_pool["gpu"].usd


def test_a_value_of_another_type_is_refused() -> None:
    night = outcomes.night()
    assert night.record is not None
    with pytest.raises(ValidationError, match="finite number"):
        as_json.document([replace(night, record=replace(night.record, lasts=float("nan")))])


def test_names_that_are_keys_keep_their_spelling() -> None:
    night = outcomes.night()
    assert night.record is not None
    assert night.costs is not None
    name = "my_pool"
    spec = {"nodeSelector": {"my_label": "x"}, "snake_case": 1}
    pods = (replace(night.record.pods[0], spec=spec),)
    costs = replace(night.costs, by_pool={name: night.costs.total})
    shown = as_json.document([replace(night, costs=costs, record=replace(night.record, pods=pods))])["outcomes"][0]
    assert list(shown["costs"]["byPool"]) == [name]
    assert to_camel(name) != name
    assert shown["record"]["pods"][0]["spec"] == spec


def test_advice_says_what_it_changes_for_each_expectation() -> None:
    (shown,) = sample()["advice"]
    assert (shown["stack"], shown["isMet"], shown["rehearsals"]) == ("prod", False, 3)
    changed = [each["expectation"] for each in shown["expectations"] if each["before"] != each["after"]]
    assert changed == ["train waits at most 40m"]
    assert shown["usd"] == 3.88


def test_a_skipped_outcome_has_no_record() -> None:
    shown = sample()["outcomes"][2]
    assert (shown["record"], shown["costs"], shown["pools"]) == (None, None, [])
    assert shown["skipped"] == "it has no pool of role gpu"


def test_a_lost_outcome_has_no_verdict_and_is_not_met() -> None:
    shown = sample()["outcomes"][4]
    assert (shown["record"], shown["verdicts"], shown["isMet"]) == (None, [], False)
    assert shown["lost"] == "etcd has ended.\nThe end of its log:\n  no space left"
    assert as_json.document([outcomes.calm(), outcomes.lost()])["isMet"] is False


def test_hostile_text_is_written_in_ascii_and_read_back_as_it_was() -> None:
    hostile = "<script>\x1b[31m\u202e\x00 ü </script>"
    written = as_json.render([replace(outcomes.night(), stack=hostile)])
    assert written.isascii()
    assert written.replace("\n", "").isprintable()
    assert json.loads(written)["outcomes"][0]["stack"] == hostile
