import pytest
from pydantic import ValidationError

from components.contract.pool_upgrade import PoolUpgrade, at_once, minutes_at_most, share_of


@pytest.mark.parametrize(("given", "nodes"), [(1, "1"), ("1", "1"), (1000, "1000"), ("1%", "1%"), ("100%", "100%")])
def test_a_number_may_be_written_with_or_without_quotes_and_a_share_in_them(given: object, nodes: str) -> None:
    assert PoolUpgrade.model_validate({"nodes": given}).nodes == nodes


@pytest.mark.parametrize("given", [0, 1001, "0", "01", "0%", "101%", "33 %", "%", "", 1.0, True, ["1"], "\u0661"])
def test_anything_else_is_refused(given: object) -> None:
    with pytest.raises(ValidationError, match="must be 1 to 1000 nodes"):
        PoolUpgrade.model_validate({"nodes": given})


@pytest.mark.parametrize(
    ("given", "nodes_max", "is_elastic", "expected"),
    [
        (None, 10, True, "33%"),
        (None, 3, False, "1"),
        ({}, 10, True, "33%"),
        ({"nodes": 4}, 10, True, "4"),
        ({"nodes": 4}, 3, True, "3"),
        ({"nodes": "100%"}, 3, False, "100%"),
    ],
)
def test_a_group_replaces_what_is_asked_for_but_never_more_nodes_than_it_has(
    given: dict[str, object] | None, nodes_max: int, is_elastic: bool, expected: str
) -> None:
    upgrade = None if given is None else PoolUpgrade.model_validate(given)
    assert at_once(upgrade, nodes_max, is_elastic=is_elastic) == expected


@pytest.mark.parametrize(
    ("nodes", "nodes_max", "expected"), [("4", 10, 4), ("33%", 10, 4), ("33%", 100, 33), ("1%", 1, 1)]
)
def test_a_share_is_rounded_up(nodes: str, nodes_max: int, expected: int) -> None:
    assert share_of(nodes, nodes_max) == expected


@pytest.mark.parametrize(
    ("nodes", "nodes_max", "expected"), [("1", 12, 12 * 30), ("10%", 30, 10 * 30), ("100%", 3, 30), ("5", 3, 30)]
)
def test_an_upgrade_takes_a_drain_and_a_new_node_for_each_round(nodes: str, nodes_max: int, expected: int) -> None:
    assert minutes_at_most(nodes, nodes_max, 15) == expected
