from typing import Any

import pytest

from emulators.azure.resources.refreshing import refreshed


@pytest.mark.parametrize(
    ("given", "before", "now", "inputs"),
    [
        # What Azure chose from the start stays its choice.
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}),
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 3}, {"a": 1, "b": 3}),
        ({"a": 1}, {"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}, {"a": 1}),
        # What Azure never told, such as a part of the id, stays.
        ({"name": "x", "a": 1}, {"a": 1}, {"a": 2}, {"name": "x", "a": 2}),
        ({"o": {"a": 1}}, {"o": {"a": 1, "b": 2}}, {"o": {"a": 3, "b": 2}}, {"o": {"a": 3}}),
        ({"l": [{"a": 1}]}, {"l": [{"a": 1, "b": 2}]}, {"l": [{"a": 3, "b": 2}]}, {"l": [{"a": 3}]}),
        ({"l": [{"a": 1}]}, {"l": [{"a": 1, "b": 2}]}, {"l": [{"a": 1, "b": 2}, {"a": 5, "b": 6}]},
         {"l": [{"a": 1}, {"a": 5, "b": 6}]}),
        ({"l": [1, 2]}, {"l": [1, 2]}, {"l": [2]}, {"l": [2]}),
        ({"w": "West Europe"}, {"w": "westeurope"}, {"w": "westeurope"}, {"w": "West Europe"}),
    ],
)  # fmt: skip
def test_only_what_became_another_goes_into_the_inputs(
    given: dict[str, Any], before: dict[str, Any], now: dict[str, Any], inputs: dict[str, Any]
) -> None:
    assert refreshed(given, before, now) == inputs
