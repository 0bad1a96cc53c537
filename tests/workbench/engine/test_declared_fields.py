"""Which declared fields differ in a live object."""

from typing import Any

import pytest

from components.contract.engine_marks import MARK
from workbench.engine.declared_fields import differing

ALIKE: dict[str, tuple[Any, Any]] = {
    "quantities of one value": ({"spec": {"limits": {"cpu": "0.5"}}}, {"spec": {"limits": {"cpu": "500m"}}}),
    "a number and its text": ({"port": 53.0}, {"port": 53}),
    "what the API server leaves out": ({"hostNetwork": False, "args": [], "selector": {}, "text": ""}, {}),
    "what the program leaves out": ({"spec": {"a": None}}, {"spec": {"a": 1, "b": 2}}),
    "elements of others": ({"rules": [{"name": "a"}]}, {"rules": [{"name": "b"}, {"name": "a", "more": 1}]}),
    "another order": ({"verbs": ["get", "list"]}, {"verbs": ["list", "get"]}),
    "notes of the engine": ({"metadata": {"annotations": {"pulumi.com/patchForce": "true"}}}, {}),
    "an encrypted value": ({"data": {"key": {MARK: "1b47", "ciphertext": "v1:"}}}, {"data": {"key": "text"}}),
}
OTHER: dict[str, tuple[Any, Any, list[str]]] = {
    "labels that are equal as quantities": (
        {"metadata": {"labels": {"n": "1000"}}},
        {"metadata": {"labels": {"n": "1k"}}},
        ["metadata.labels.n"],
    ),
    "a key with a domain": ({"data": {"a.b/c": "1"}}, {"data": {}}, ['data["a.b/c"]']),
    "true and 1": ({"flag": True}, {"flag": 1}, ["flag"]),
    "an element of a list of the same length": (
        {"limits": [{"cpu": "1"}]},
        {"limits": [{"cpu": "2"}]},
        ["limits[0].cpu"],
    ),
    "a missing element": ({"verbs": ["get", "list"]}, {"verbs": ["get"]}, ["verbs[1]"]),
    "an element by its name": (
        {"containers": [{"name": "b", "image": "1"}]},
        {"containers": [{"name": "a"}, {"name": "b", "image": "2"}]},
        ["containers[0].image"],
    ),
    "an empty rule, which allows everything": ({"ingress": [{}]}, {"ingress": []}, ["ingress[0]"]),
    "another kind of value": ({"spec": {"a": {"b": 1}}}, {"spec": ["a"]}, ["spec.a.b"]),
}


@pytest.mark.parametrize("name", ALIKE)
def test_these_are_alike(name: str) -> None:
    declared, live = ALIKE[name]
    assert list(differing(declared, live)) == []


@pytest.mark.parametrize("name", OTHER)
def test_these_differ_at_their_path(name: str) -> None:
    declared, live, paths = OTHER[name]
    assert [each.path for each in differing(declared, live)] == paths
