import json
from types import ModuleType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from workbench.offline.aws import facts as aws
from workbench.offline.azure import facts as azure

CLOUDS = pytest.mark.parametrize("cloud", [aws, azure], ids=["aws", "azure"])


def described(cloud: ModuleType) -> tuple[dict[str, Any], Draft202012Validator]:
    data = json.loads(cloud.DATA.read_text(encoding="utf-8"))
    schema = json.loads((cloud.DATA.parent / data["$schema"]).read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return data, Draft202012Validator(schema)


@CLOUDS
def test_the_facts_are_as_their_schema_says(cloud: ModuleType) -> None:
    data, validator = described(cloud)
    assert [error.message for error in validator.iter_errors(data)] == []


@CLOUDS
@pytest.mark.parametrize("row", [["vpcId", "string", "yes", "replace"], ["vpcId", "text", True, "replace"], ["vpcId"]])
def test_the_schema_refuses_a_row_of_another_form(cloud: ModuleType, row: list[Any]) -> None:
    data, validator = described(cloud)
    next(iter(data["resources"].values()))["rows"].append(row)
    assert not validator.is_valid(data)


def test_the_loaders_take_every_key_that_the_schema_allows() -> None:
    _, validator = described(aws)
    allowed = {
        *validator.schema["properties"]["resources"]["additionalProperties"]["properties"],
        *validator.schema["$defs"]["said"]["properties"],
    }
    taken = {*aws.ResourceFacts.__dataclass_fields__, *azure.ResourceFacts.__dataclass_fields__}
    assert allowed == taken - {"common"}


@CLOUDS
def test_no_input_of_a_type_has_two_rows(cloud: ModuleType) -> None:
    for type_, known in cloud.facts().resources.items():
        assert len(known.inputs) == len(known.rows), type_
