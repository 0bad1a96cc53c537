"""Whatever arrives, the pack answers: an exception would stop the deployment of everybody who uses it."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.examples import UNKNOWN_TEXT as UNKNOWN
from policies.examples import Example, Given, load
from support.policies import judge

Path = tuple[str | int, ...]

EXAMPLES = [example for example in load() if example.kind == "good"]
WRONG = [3, -1, 0.5, True, "", "text", "{", "- [", None, [], ["x"], {}, {"x": 1}, [[]], [None], {"key": None}]
BROKEN_POLICIES = [
    "text",
    "[]",
    "{}",
    '{"Statement": "all"}',
    '{"Statement": [1]}',
    '{"Statement": {"Condition": "none"}}',
    '{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "sts:AssumeRole"}}',
    '{"Statement": {"Effect": "Allow", "Principal": {"Service": 1}, "Action": [2], "Resource": {}}}',
]
QUICKLY = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def _not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGZ_CLUSTERS_POLICY_UNKNOWN", "note")


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in entries:
        yield (*path, key)
        yield from _paths(item, (*path, key))


@st.composite
def damaged(draw: st.DrawFn, replacement: st.SearchStrategy[Any] | None) -> tuple[Example, list[Given]]:
    """Return a good example and its resources with one place replaced, or dropped without ``replacement``."""
    example = draw(st.sampled_from(EXAMPLES))
    resources = copy.deepcopy(example.resources)
    index = draw(st.sampled_from([i for i, given in enumerate(resources) if given.props] or [0]))
    paths = list(_paths(resources[index].props))
    if not paths:
        return example, example.resources
    *parents, last = draw(st.sampled_from(paths))
    place = resources[index].props
    for key in parents:
        place = place[key]
    if replacement is None:
        del place[last]
    else:
        place[last] = draw(replacement)
    return example, resources


@QUICKLY
@given(damaged(st.sampled_from(WRONG)))
def test_a_value_of_the_wrong_type_crashes_no_rule(case: tuple[Example, list[Given]]) -> None:
    example, resources = case
    assert not [m for m in judge(example, resources).messages if "crashed" in m]


@pytest.mark.parametrize("document", BROKEN_POLICIES)
def test_a_policy_of_aws_that_is_not_one_crashes_no_rule(document: str) -> None:
    keys = {"policy", "assumeRolePolicy"}
    tried = 0
    for example in EXAMPLES:
        resources = copy.deepcopy(example.resources)
        for props in (each.props for each in resources if keys & each.props.keys()):
            props.update(dict.fromkeys(keys & props.keys(), document))
            tried += 1
        assert not [m for m in judge(example, resources).messages if "crashed" in m], example
    assert tried


@QUICKLY
@given(damaged(None))
def test_a_missing_value_crashes_no_rule(case: tuple[Example, list[Given]]) -> None:
    example, resources = case
    assert not [m for m in judge(example, resources).messages if "crashed" in m]


@QUICKLY
@given(damaged(st.just(UNKNOWN)))
def test_an_unknown_value_never_makes_a_violation(case: tuple[Example, list[Given]]) -> None:
    example, resources = case
    report = judge(example, resources)
    assert (report.violated, report.advised) == ([], [])


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.rule}/{e.name}")
@pytest.mark.parametrize("all_of_it", [{}, UNKNOWN], ids=["nothing", "all unknown"])
def test_a_resource_without_any_known_value_crashes_no_rule(example: Example, all_of_it: Any) -> None:
    emptied = [
        (given.type, given.name, {} if all_of_it == {} else dict.fromkeys(given.props, UNKNOWN))
        for given in example.resources
    ]
    assert not [m for m in judge(example, emptied).messages if "crashed" in m]
