"""No rule crashes, whatever a resource looks like: 2,000 damaged examples for each rule, in `make test` 100."""

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.examples import UNKNOWN_TEXT, Example, load
from policies.judge import judge_resource, judge_stack
from policies.registry import RULES
from policies.resource import Resource
from policies.rule import EachOf, Rule
from policies.settings import context
from policies.values import UNKNOWN, Value

RUNS, CASES = [1, pytest.param(20, marks=pytest.mark.full)], 100
WRONG = [
    *(3, -1, 0.5, float("inf"), True, "", "text", "{", "- [", "9" * 40, "1e999999", "-5Gi", "a,b , c", "€\ud7ff"),
    *(None, [], ["x"], {}, {"x": 1}, [[]], [None], {"key": None}, UNKNOWN, [UNKNOWN], {"x": UNKNOWN}),
]
EXAMPLES: dict[str, list[Example]] = {rule.id: [] for rule in RULES}
for one in load():
    EXAMPLES[one.rule].append(one)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Return each place inside: what holds it, and its key or index."""
    entries = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    for key, item in entries:
        yield value, key
        yield from places(item)


def known(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): known(item) for key, item in value.items()}
    if isinstance(value, list):
        return [known(item) for item in value]
    return UNKNOWN if value == UNKNOWN_TEXT else value


def damaged(example: Example, chance: random.Random) -> list[Resource]:
    """Return the example's resources with up to four places lost or replaced."""
    props = [known(given.props) for given in example.resources]
    for _ in range(chance.randint(1, 4)):
        spots = [spot for each in props for spot in places(each)]
        if not spots:
            break
        holder, key = chance.choice(spots)
        if chance.random() < 0.3:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(chance.choice(WRONG))
    return [
        Resource(given.type, given.name, f"urn:{index}", Value(each), chance.random() < 0.5)
        for index, (given, each) in enumerate(zip(example.resources, props, strict=True))
    ]


def crashes(rule: Rule[Any], example: Example, resources: list[Resource]) -> list[str]:
    about = context(None, example.stack_config, {})
    if isinstance(rule.applies_to, EachOf):
        verdicts = [judge_resource(rule, resource, about) for resource in resources]
    else:
        verdicts = [judge_stack(rule, resources, about)]
    return [crash for verdict in verdicts for crash in verdict.crashed]


@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_rule_crashes(rule: Rule[Any], runs: int) -> None:
    @settings(max_examples=runs, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(min_value=0))
    def run(seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 no secret is made of it
        for _ in range(CASES):
            example = chance.choice(EXAMPLES[rule.id])
            resources = damaged(example, chance)
            assert crashes(rule, example, resources) == [], [resource.props._raw for resource in resources]

    run()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_no_rule_crashes_over_nothing(rule: Rule[Any]) -> None:
    for example in EXAMPLES[rule.id]:
        for raw in ({}, UNKNOWN, None, [], "text"):
            empty = [Resource(given.type, given.name, "urn", Value(raw)) for given in example.resources]
            assert crashes(rule, example, empty) == []
