"""How layers and a stack file are merged, and which layers a stack takes."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from components.stack_files.base import BaseFile, Layer, has, merged
from components.stack_files.inheritance import Inherited

scalars = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b"])
documents = st.recursive(
    st.dictionaries(st.sampled_from("abc"), scalars, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | scalars | st.lists(scalars, max_size=2), max_size=3),
    max_leaves=8,
)


def at(document: Any, path: tuple[int | str, ...]) -> Any:
    for part in path:
        document = document[part]
    return document


def paths(value: Any, path: tuple[int | str, ...] = ()) -> list[tuple[int | str, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [each for key, entry in entries for each in ((*path, key), *paths(entry, (*path, key)))]


@pytest.mark.parametrize(
    ("below", "above", "result"),
    [
        ({"a": 1, "b": 2}, {"b": 3, "c": 4}, {"a": 1, "b": 3, "c": 4}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}, {"a": {"x": 1, "y": 3}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"x": 1}}, {"a": 2}, {"a": 2}),
        ({"a": 2}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"x": None}}, {"a": {"y": 2}}),
        ({"a": {"x": 1}}, {"a": None}, {}),
        ({}, {"a": None, "b": {"x": None}}, {"a": None, "b": {"x": None}}),
        ({"a": {"x": 1}}, {"a": {}}, {"a": {"x": 1}}),
    ],
    ids=[
        "keys of both",
        "inside a mapping",
        "a list replaces",
        "a value replaces a mapping",
        "a mapping replaces a value",
        "null removes a key",
        "null removes a mapping",
        "a null that removes nothing stays",
        "an empty mapping removes nothing",
    ],
)
def test_mappings_merge_key_by_key_and_anything_else_replaces(below: Any, above: Any, result: Any) -> None:
    assert merged(below, above) == result


@given(documents, documents)
@settings(max_examples=60)
def test_what_is_above_wins_and_the_rest_stays(below: dict[str, Any], above: dict[str, Any]) -> None:
    before = copy.deepcopy((below, above))
    result = merged(below, above)
    assert (below, above) == before
    for path in paths(result):
        value = at(result, path)
        if not isinstance(value, dict):
            assert value == at(above if has(above, path) else below, path)
    for path in paths(above):
        assert (
            has(result, path) or at(above, path) is None or any(at(above, path[:n]) is None for n in range(len(path)))
        )


@given(st.lists(documents, max_size=3), documents)
@settings(max_examples=60)
def test_every_value_comes_from_a_place_that_has_it(layers: list[dict[str, Any]], own: dict[str, Any]) -> None:
    inherited: Any = {}
    for layer in layers:
        inherited = merged(inherited, layer)
    models = {index: Layer.model_construct(settings=layer) for index, layer in enumerate(layers)}
    found = Inherited(own, merged(inherited, own), layers=models)
    for path in paths(found.settings):
        value, place = at(found.settings, path), found.in_base(path)
        source = at({"layers": [{"settings": layer} for layer in layers]}, place) if place else at(own, path)
        assert isinstance(value, dict) or value == source


@pytest.mark.parametrize(
    ("layer", "stack", "fits"),
    [
        ({}, {}, True),
        ({"kinds": ["eks", "aks"]}, {"cluster": {"kind": "aks"}}, True),
        ({"kinds": ["eks"]}, {"cluster": {"kind": "local"}}, False),
        ({"environments": ["prod"]}, {"environment": "dev"}, False),
        ({"environments": ["prod"], "kinds": ["eks"]}, {"environment": "prod", "cluster": {"kind": "eks"}}, True),
        ({"environments": ["prod"], "kinds": ["eks"]}, {"environment": "dev", "cluster": {"kind": "eks"}}, False),
        ({"environments": ["prod"]}, {"environment": "prd"}, True),
        ({"kinds": ["eks"]}, {"cluster": 3}, True),
    ],
)
def test_a_stack_takes_the_layers_of_its_environment_and_kind(layer: Any, stack: Any, *, fits: bool) -> None:
    assert Layer.model_validate({**layer, "settings": {}}).fits(stack) is fits


@pytest.mark.parametrize("key", ["schemaVersion", "base", "environment", "kind", "name", "clusterId"])
def test_what_says_which_stack_it_is_cannot_be_inherited(key: str) -> None:
    chosen = {"cluster": {key: "x"}} if key in ("kind", "name", "clusterId") else {key: "x"}
    with pytest.raises(ValidationError, match="belongs to one stack"):
        BaseFile.model_validate({"schemaVersion": 1, "layers": [{"settings": chosen}]})
