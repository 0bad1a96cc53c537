import json
from dataclasses import fields, replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic.alias_generators import to_camel

from support import outcomes
from workbench.rehearsal import outcome, record
from workbench.rehearsal.report import as_json, shape
from workbench.rehearsal.report.comparison import Comparison, Row, compare
from workbench.rehearsal.report.figures import PoolFigures, WorkFigures
from workbench.rehearsal.verdicts import verdict

SHAPES = [
    (record.Reason, shape.ReasonShape), (record.PodRecord, shape.PodShape), (record.NodeRecord, shape.NodeShape),
    (record.Refusal, shape.RefusalShape), (record.Happening, shape.HappeningShape),
    (record.GroupFacts, shape.GroupShape), (record.Record, shape.RecordShape), (verdict.Hint, shape.HintShape),
    (verdict.Verdict, shape.VerdictShape), (outcome.Cost, shape.CostShape), (outcome.Costs, shape.CostsShape),
    (outcome.Outcome, shape.OutcomeShape), (PoolFigures, shape.PoolShape), (WorkFigures, shape.WorkShape),
    (Comparison, shape.ComparisonShape), (Row, shape.RowShape),
]  # fmt: skip


def sample() -> dict[str, Any]:
    two = outcomes.night(), outcomes.night(gpu_max=6)
    shown = as_json.render(
        [*two, outcomes.skipped(), outcomes.calm()], [compare(*two, names=("main", "HEAD"))], [outcomes.advice()]
    )
    document: dict[str, Any] = json.loads(shown)
    return document


def test_the_schema_in_the_documentation_is_that_of_the_models() -> None:
    assert as_json.SCHEMA.read_text() == as_json.schema(), "run python -m workbench.rehearsal.report.as_json --write"


def test_reports_satisfy_their_schema() -> None:
    schema = json.loads(as_json.schema())
    Draft202012Validator.check_schema(schema)
    assert not list(Draft202012Validator(schema).iter_errors(sample()))


@pytest.mark.parametrize("key", ["schemaVersion", "outcomes", "isMet"])
def test_the_schema_refuses_a_report_without_a_key(key: str) -> None:
    document = sample()
    del document[key]
    assert list(Draft202012Validator(json.loads(as_json.schema())).iter_errors(document))


@pytest.mark.parametrize(("source", "target"), SHAPES, ids=lambda each: each.__name__)
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


def test_hostile_text_is_written_in_ascii_and_read_back_as_it_was() -> None:
    hostile = "<script>\x1b[31m\u202e\x00 ü </script>"
    written = as_json.render([replace(outcomes.night(), stack=hostile)])
    assert written.isascii()
    assert written.replace("\n", "").isprintable()
    assert json.loads(written)["outcomes"][0]["stack"] == hostile
