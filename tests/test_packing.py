"""The exact packing that rehearsals are held against: it agrees with trying everything."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import pytest

from support.packing import Amounts, Kind, Node, Packing, Seen, best, fits, may_be_left_over, unexplained

ROOM: Amounts = (4, 8, 1)


def amounts(random: Random, most: int) -> Amounts:
    return random.randint(1, most), random.randint(1, most), random.randint(0, 1)


def all_placings(pods: Sequence[Amounts], rooms: Sequence[Amounts]) -> list[list[int]]:
    """Return every way to give each pod a node or none; -1 is none."""
    return [
        [*chosen]
        for chosen in itertools.product(range(-1, len(rooms)), repeat=len(pods))
        if all(fits([pods[i] for i, on in enumerate(chosen) if on == node], room) for node, room in enumerate(rooms))
    ]


def by_trying(pods: Sequence[Amounts], standing: Sequence[Amounts], further: Sequence[Kind]) -> Packing:
    rooms = [*standing, *(kind.room for kind in further for _ in range(kind.count))]
    found = []
    for chosen in all_placings(pods, rooms):
        added = {on for on in chosen if on >= len(standing)}
        found.append((-sum(on >= 0 for on in chosen), len(standing) + len(added)))
    placed, nodes = min(found)
    return Packing(-placed, nodes)


def in_some_order(pod: Amounts, others: Sequence[Amounts], rooms: Sequence[Amounts]) -> bool:
    """Return whether first come, first served leaves ``pod`` over, by trying all placings of the others."""
    return any(
        not any(fits([*(o for o, on in zip(others, chosen, strict=True) if on == n), pod], r)
                for n, r in enumerate(rooms))
        for chosen in all_placings(others, rooms)
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(40))
def test_the_best_packing_is_that_of_trying_everything(seed: int) -> None:
    random = Random(seed)  # noqa: S311 no secret
    pods = [amounts(random, 5) for _ in range(random.randint(1, 6))]
    standing = [amounts(random, 9) for _ in range(random.randint(0, 2))]
    further = [Kind(f"pool-{n}", amounts(random, 9), random.randint(0, 2)) for n in range(random.randint(0, 2))]
    while len(standing) + sum(kind.count for kind in further) > 4:
        standing = standing[1:]
        further = further[: 1 if standing else 2]
    assert best(pods, standing, further) == by_trying(pods, standing, further)


@pytest.mark.parametrize("seed", range(40))
def test_what_greed_may_leave_over_is_that_of_trying_everything(seed: int) -> None:
    random = Random(seed)  # noqa: S311 no secret
    pod, *others = (amounts(random, 5) for _ in range(random.randint(1, 6)))
    rooms = [amounts(random, 9) for _ in range(random.randint(0, 3))]
    assert may_be_left_over(pod, others, rooms) == in_some_order(pod, others, rooms)


def test_ten_pods_that_fill_five_nodes_exactly_need_all_five() -> None:
    pods = [(2, 3, 0), (2, 5, 1)] * 5
    assert best(pods, [ROOM], [Kind("pool", ROOM, 4)]) == Packing(10, 5)
    assert best(pods, [ROOM], [Kind("pool", ROOM, 3)]) == Packing(8, 4)


def test_nodes_that_exist_in_any_case_count_even_if_they_are_empty() -> None:
    assert best([(5, 1, 0)], [ROOM, ROOM], [Kind("pool", ROOM, 1)]) == Packing(0, 2)
    assert best([], [ROOM], []) == Packing(0, 1)


def seen(
    *nodes: Node, waiting: tuple[Amounts, ...] = (), further: int = 0, pods: tuple[Amounts, ...] | None = None
) -> Seen:
    placed = tuple(pod for node in nodes for pod in node.pods)
    return Seen((*placed, *waiting) if pods is None else pods, waiting, nodes, (Kind("pool", ROOM, further),))


def test_a_pod_that_waits_for_the_greed_of_others_is_explained() -> None:
    nodes = (Node("a", "pool", ROOM, ((3, 1, 0),)), Node("b", "pool", ROOM, ((3, 1, 0),)))
    assert unexplained(seen(*nodes, waiting=((2, 1, 0),))) == []
    assert best([(3, 1, 0), (1, 1, 0), (3, 1, 0), (1, 1, 0)], [ROOM, ROOM], []).placed == 4


def test_a_pod_too_large_for_any_node_is_explained() -> None:
    assert unexplained(seen(Node("a", "pool", ROOM), waiting=((5, 1, 0), (1, 1, 2)), further=3)) == []


def test_a_node_that_another_order_would_have_saved_is_explained() -> None:
    nodes = (
        Node("a", "pool", ROOM, ((2, 1, 0), (1, 1, 0))),
        Node("b", "pool", ROOM, ((3, 1, 0),)),
        Node("c", "pool", ROOM, ((2, 1, 0),), is_added=True),
    )
    assert best([pod for node in nodes for pod in node.pods], [], [Kind("pool", ROOM, 3)]).nodes == 2
    assert unexplained(seen(*nodes)) == []


def test_what_the_autoscaler_holds_back_on_nodes_of_an_empty_pool_explains_a_pod_that_fills_one() -> None:
    waits = seen(waiting=((4, 1, 0),), further=1)
    assert len(unexplained(waits)) == 1
    assert unexplained(replace(waits, held_back=(1, 0, 0))) == []
    not_empty = seen(Node("a", "pool", ROOM, ((4, 1, 0),)), waiting=((4, 1, 0),), further=1)
    assert len(unexplained(replace(not_empty, held_back=(1, 0, 0)))) == 1


def test_what_the_autoscaler_holds_back_explains_a_node_too_many_in_a_pool_that_was_empty() -> None:
    nodes = tuple(Node(name, "pool", ROOM, ((2, 1, 0),), is_added=True) for name in "ab")
    assert len(unexplained(seen(*nodes))) == 1
    assert unexplained(replace(seen(*nodes), held_back=(1, 0, 0))) == []
    first = replace(nodes[0], is_added=False)
    assert len(unexplained(replace(seen(first, nodes[1]), held_back=(1, 0, 0)))) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (seen(Node("a", "pool", ROOM, ((3, 1, 0),)), waiting=((1, 1, 0),)), "waits, but a has room"),
        (seen(Node("a", "pool", ROOM, ((3, 1, 0),)), waiting=((2, 1, 0),), further=1), "waits, but pool may add 1"),
        (seen(Node("a", "pool", ROOM, ((3, 1, 0), (2, 1, 0)))), "a has room for (4, 8, 1) and pods of (5, 2, 0)"),
        (seen(Node("a", "pool", ROOM), Node("b", "pool", ROOM, is_added=True), pods=()), "b was added and is empty"),
        (
            seen(Node("a", "pool", ROOM, ((1, 1, 0),)), Node("b", "pool", ROOM, ((1, 1, 0),), is_added=True)),
            "b was added, but the 1 nodes before it have room for all pods in any order",
        ),
    ],
)
def test_what_greed_does_not_explain_is_named(wrong: Seen, says: str) -> None:
    [found] = unexplained(wrong)
    assert says in found
