from typing import Annotated, Literal

import pytest
from pydantic import Field

from components.contract.choices import ContractModel
from infra.config.tree import follow, tree


class Size(ContractModel):
    """How large."""

    width: int


class Round(ContractModel):
    kind: Literal["round"]
    radius: int
    size: Size | None = Field(None, description="Beats the radius.")
    glass: bool = False


class Square(ContractModel):
    kind: Literal["square"]
    edges: tuple[Size, ...]
    size: Size | None = None
    glass: bool = False


class Table(ContractModel):
    top: Annotated[Round | Square, Field(discriminator="kind")]
    drawers: dict[str, Size]


ROOT = tree(Table)


def test_every_key_is_listed_once_for_each_meaning_with_the_members_of_which_it_is_one() -> None:
    assert [(key.name, key.only_with, key.is_required) for key in ROOT.walk()] == [
        ("top", "", True),
        ("top.kind", "", True),
        ("top.radius", "kind: round", True),
        ("top.size", "kind: round", False),
        ("top.size.width", "top.kind: round", True),
        ("top.size", "kind: square", False),
        ("top.size.width", "top.kind: square", True),
        ("top.glass", "kind: round or square", False),
        ("top.edges", "kind: square", True),
        ("top.edges.*", "", False),
        ("top.edges.*.width", "", True),
        ("drawers", "", True),
        ("drawers.*", "", False),
        ("drawers.*.width", "", True),
    ]


@pytest.mark.parametrize(
    ("location", "path", "keys"),
    [
        (("top", "round", "size", "width"), ("top", "size", "width"), []),
        (("top", "square", "edges", 1), ("top", "edges", 1), ["width"]),
        (("top", "square"), ("top",), ["kind", "edges", "size", "glass"]),
        (("top",), ("top",), ["kind", "radius", "size", "glass", "edges"]),
        (("drawers", "round"), ("drawers", "round"), ["width"]),
        (("drawers", "x", "[key]"), ("drawers", "x"), ["width"]),
    ],
)
def test_pydantics_places_become_the_users(
    location: tuple[str | int, ...], path: tuple[str | int, ...], keys: list[str]
) -> None:
    found, node = follow(ROOT, location)
    assert found == path
    assert node is not None
    assert list(node.keys) == keys


def test_a_place_that_nobody_knows_keeps_its_path() -> None:
    assert follow(ROOT, ("nowhere", "at all")) == (("nowhere", "at all"), None)


def test_a_fields_description_wins_over_its_models_and_null_is_no_kind_of_value() -> None:
    node = ROOT.keys["top"].members["round"].keys["size"]
    assert node.said["description"] == "Beats the radius."
    assert node.kind == "mapping with the key width"


def test_the_key_that_tells_members_apart_may_be_any_of_them() -> None:
    assert ROOT.keys["top"].keys["kind"].said["enum"] == ["round", "square"]
