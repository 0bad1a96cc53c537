import json
from dataclasses import fields, replace
from pathlib import Path

from pydantic.alias_generators import to_camel

from support.streams import stream
from workbench.report import as_json
from workbench.report.events import read
from workbench.report.model import Outcome, Report, Source, StackReport
from workbench.report.verdict import Case, judge

GOLDEN = Path(__file__).parent / "report.json"


def report(name: str) -> Report:
    stack = judge(Case("prod", Source.COMPARED, read(stream(name))))
    return Report(stack.outcome, (stack,), base="a" * 12, head="b" * 12)


def test_the_shape_is_the_one_that_scripts_know() -> None:
    assert as_json.render(report("violating")) == GOLDEN.read_text()


def test_every_field_of_the_model_is_there() -> None:
    shape = json.loads(as_json.render(report("replaced")))
    assert set(shape) == {"format", "exitCode", *(to_camel(field.name) for field in fields(Report))}
    assert set(shape["stacks"][0]) == {to_camel(field.name) for field in fields(StackReport)}
    assert shape["exitCode"] == 1
    assert shape["stacks"][0]["dangers"][0]["change"]["operation"] == "replace"


def test_equal_reports_are_equal_text_in_ascii() -> None:
    hostile = replace(report("larger"), problems=("a\u202e\u200bb", "é"), outcome=Outcome.UNJUDGED)
    assert as_json.render(hostile) == as_json.render(replace(hostile))
    assert as_json.render(hostile).isascii()
    assert json.loads(as_json.render(hostile))["problems"] == ["a\u202e\u200bb", "é"]
