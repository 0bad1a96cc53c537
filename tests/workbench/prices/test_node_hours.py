from dataclasses import dataclass

import pytest

from workbench.prices.node_hours import life, node_hours


@dataclass(frozen=True)
class Node:
    created: float
    gone: float | None = None


@pytest.mark.parametrize(
    ("node", "counts"),
    [
        (Node(-600), (0, 3600)),
        (Node(1800), (1800, 3600)),
        (Node(0, 9000), (0, 3600)),
        (Node(-600, -60), (0, 0)),
        (Node(4000), (4000, 4000)),
    ],
)
def test_a_node_counts_within_the_scenario_only(node: Node, counts: tuple[float, float]) -> None:
    assert life(node, 3600) == counts
    assert node_hours(node, 3600) == (counts[1] - counts[0]) / 3600
