from typing import Annotated

import pytest
from pydantic import Field, ValidationError, field_validator

from components.contract.choices import DECIDES, WHY_DEFAULT, ContractModel, Explained, Findings


class Garden(ContractModel):
    tree_names: Annotated[tuple[str, ...], Explained("Gardens begin empty.", "Shade.")] = Field(
        (), description="Trees."
    )

    @field_validator("tree_names", mode="after")
    @classmethod
    def _no_weeds(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        findings = Findings()
        for index, name in enumerate(names):
            if name == "weed":
                findings.add("is no tree", index, given=name, allowed=("oak",))
        findings.raise_if_any()
        return names


def test_nothing_found_refuses_nothing() -> None:
    assert Garden.model_validate({"treeNames": ["oak"]}).tree_names == ("oak",)


def test_each_finding_is_an_error_at_its_own_path() -> None:
    with pytest.raises(ValidationError) as caught:
        Garden.model_validate({"treeNames": ["weed", "oak", "weed"]})
    errors = caught.value.errors()
    assert [error["loc"] for error in errors] == [("treeNames", 0), ("treeNames", 2)]
    assert errors[0]["ctx"] == {"message": "is no tree", "allowed": ("oak",)}
    assert errors[0]["input"] == "weed"


def test_a_message_with_braces_stays_as_it_is() -> None:
    findings = Findings()
    findings.add("write {message} and {x}")
    with pytest.raises(ValidationError) as caught:
        findings.raise_if_any()
    assert caught.value.errors()[0]["ctx"]["message"] == "write {message} and {x}"


def test_the_schema_of_a_field_carries_its_explanation() -> None:
    field = Garden.model_json_schema()["properties"]["treeNames"]
    assert field[WHY_DEFAULT] == "Gardens begin empty."
    assert field[DECIDES] == "Shade."
    assert field["description"] == "Trees."
    assert field["default"] == []


def test_a_model_is_closed_and_immutable() -> None:
    with pytest.raises(ValidationError, match="extra_forbidden"):
        Garden.model_validate({"treeNames": [], "lawn": 1})
    with pytest.raises(ValidationError, match="frozen"):
        Garden.model_validate({}).tree_names = ("oak",)  # type: ignore[misc]
