from typing import Any

import pytest

from policies.values import ASSUMED, UNKNOWN, NotJudgeableError, Value
from policies.views.selectors import selects, selects_everything

LABELS = {"app": "api", "tier": "core"}


@pytest.mark.parametrize(
    ("selector", "meant"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "api"}}, True),
        ({"matchLabels": {"app": "api", "tier": "web"}}, False),
        ({"matchLabels": {"zone": "a"}}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "api"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": [ASSUMED[0]]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}, True),
        ({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["api"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "zone", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "zone", "operator": "DoesNotExist"}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}, False),
        ({"matchLabels": {"app": "api"}, "matchExpressions": [{"key": "zone", "operator": "Exists"}]}, False),
    ],
)
def test_a_selector_means_what_the_api_server_makes_of_it(selector: Any, meant: bool) -> None:
    assert selects(Value(selector), Value(LABELS)) is meant


def test_a_certain_mismatch_settles_it_whatever_else_is_unknown() -> None:
    selector = {"matchLabels": {"app": UNKNOWN, "tier": "web"}}
    assert not selects(Value(selector), Value(LABELS))


@pytest.mark.parametrize(
    "selector",
    [
        UNKNOWN,
        {"matchLabels": UNKNOWN},
        {"matchLabels": {"app": UNKNOWN, "tier": "core"}},
        {"matchExpressions": [{"key": "app", "operator": "In", "values": UNKNOWN}]},
        {"matchExpressions": [{"key": "app", "operator": "Gt", "values": ["1"]}]},
        {"matchExpressions": [{"operator": "Exists"}]},
    ],
)
def test_a_possible_match_is_not_judgeable(selector: Any) -> None:
    with pytest.raises(NotJudgeableError):
        selects(Value(selector), Value(LABELS))


@pytest.mark.parametrize(
    ("selector", "everything"),
    [
        (None, True),
        ({}, True),
        ({"matchLabels": {}, "matchExpressions": []}, True),
        ({"matchLabels": {"a": "b"}}, False),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, False),
    ],
)
def test_only_a_selector_without_condition_selects_everything(selector: Any, everything: bool) -> None:
    assert selects_everything(Value(selector)) is everything
