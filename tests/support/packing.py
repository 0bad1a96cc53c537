"""How many pods fit on nodes, found exactly, and whether a scheduler that moves no pod explains what it did instead.

Written from the definition alone: a node has room for pods whose requests together do not exceed it. For ten pods and
a handful of nodes; the time doubles with each pod. A set of pods is a bit mask.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Amounts: TypeAlias = tuple[int, int, int]
"""CPU in thousandths, memory in MiB, GPUs."""

NOTHING: Amounts = (0, 0, 0)


@dataclass(frozen=True)
class Kind:
    """Nodes of one room that may be added.

    Parameters
    ----------
    pool
        Their pool.
    room
        What pods may use of a node: allocatable resources less what DaemonSets take.
    count
        How many may be added.
    """

    pool: str
    room: Amounts
    count: int


@dataclass(frozen=True)
class Node:
    """A node at the end of a rehearsal.

    Parameters
    ----------
    name, pool
        Its name and its pool.
    room
        What the pods in question may use of it.
    pods
        Requests of those that it has.
    is_added
        Whether it is beyond the minimum of its pool.
    """

    name: str
    pool: str
    room: Amounts
    pods: tuple[Amounts, ...] = ()
    is_added: bool = False


@dataclass(frozen=True)
class Packing:
    """The best that is possible.

    Parameters
    ----------
    placed
        Greatest number of pods that fit.
    nodes
        Least number of nodes for so many pods, those that always exist included.
    """

    placed: int
    nodes: int


@dataclass(frozen=True)
class Seen:
    """One set of pods at the end of a rehearsal.

    Parameters
    ----------
    pods
        Requests of all its pods.
    waiting
        Those of pods that were not placed.
    nodes
        Nodes of its pools that exist, in the order in which they were made.
    further
        How many more nodes each of its pools could have had, at the maximum none.
    held_back
        What the autoscaler believes to be taken too on a node of a pool that has none.
    """

    pods: tuple[Amounts, ...]
    waiting: tuple[Amounts, ...]
    nodes: tuple[Node, ...]
    further: tuple[Kind, ...]
    held_back: Amounts = NOTHING

    def believed(self, node: Node) -> Amounts:
        """Return the room that the autoscaler expected of a node when it counted how many it needs."""
        had_nodes = any(each.pool == node.pool and not each.is_added for each in self.nodes)
        return node.room if had_nodes else minus(node.room, self.held_back)


def plus(amounts: Iterable[Amounts]) -> Amounts:
    """Return the sum of amounts."""
    cpu = memory = gpus = 0
    for each in amounts:
        cpu, memory, gpus = cpu + each[0], memory + each[1], gpus + each[2]
    return cpu, memory, gpus


def minus(whole: Amounts, part: Amounts) -> Amounts:
    """Return what is left of an amount; negative if ``part`` is more."""
    return whole[0] - part[0], whole[1] - part[1], whole[2] - part[2]


def fits(pods: Iterable[Amounts], room: Amounts) -> bool:
    """Return whether pods fit together."""
    return min(minus(room, plus(pods))) >= 0


def best(pods: Sequence[Amounts], standing: Sequence[Amounts], further: Sequence[Kind]) -> Packing:
    """Return the greatest number of pods that fit, and the least number of nodes for so many.

    Each subset of pods that fit on a node fits there too. So nodes hold a set of pods exactly if sets that fit on one
    node each cover it, and of these only the largest are needed.

    Parameters
    ----------
    pods
        Their requests.
    standing
        Rooms of the nodes that exist in any case.
    further
        Nodes that may be added.
    """
    covered = {0}
    for room in standing:
        covered = _joined(covered, _largest(pods, room))
    by_added = {0: covered}
    for kind in further:
        one, after = _largest(pods, kind.room), defaultdict[int, set[int]](set)
        for added, masks in by_added.items():
            now = masks
            for more in range(kind.count + 1):
                after[added + more] |= now
                now = _joined(now, one)
        by_added = after
    placed = max(mask.bit_count() for masks in by_added.values() for mask in masks)
    added = min(count for count, masks in by_added.items() if any(mask.bit_count() == placed for mask in masks))
    return Packing(placed, len(standing) + added)


def _joined(masks: Iterable[int], others: Iterable[int]) -> set[int]:
    right = tuple(others)
    return {mask | other for mask in masks for other in right}


def _largest(pods: Sequence[Amounts], room: Amounts) -> list[int]:
    """Return the sets that fit on a node and to which no pod can be added."""
    fitting = set(_fitting(pods, room))
    singles = [1 << index for index in range(len(pods))]
    return [mask for mask in fitting if not any(mask | one in fitting for one in singles if not mask & one)]


def _fitting(pods: Sequence[Amounts], room: Amounts) -> Iterator[int]:
    for mask in range(1 << len(pods)):
        if fits(_of(mask, pods), room):
            yield mask


def _of(mask: int, pods: Sequence[Amounts]) -> Iterator[Amounts]:
    return (pod for index, pod in enumerate(pods) if mask >> index & 1)


def may_be_left_over(
    pod: Amounts, others: Sequence[Amounts], rooms: Sequence[Amounts], believed: Sequence[Amounts] | None = None
) -> bool:
    """Return whether some order of arrival leaves no room for a pod, if each pod goes to any node with room for it.

    That is so if other pods fit on the nodes in such a way that none has room for this pod.

    Parameters
    ----------
    pod, others
        Requests of the pod, and of the others.
    rooms
        Rooms of the nodes.
    believed
        Rooms, at most as large, by which it is decided whether one more pod fits. Default: the same.
    """
    pairs = zip(rooms, rooms if believed is None else believed, strict=True)
    return _can_block([_blocking(pod, others, room, less) for room, less in pairs], 0)


def _can_block(blocking: Sequence[Sequence[int]], used: int) -> bool:
    """Return whether each node can be blocked by pods of its own."""
    if not blocking:
        return True
    return any(_can_block(blocking[1:], used | mask) for mask in blocking[0] if not mask & used)


def _blocking(pod: Amounts, others: Sequence[Amounts], room: Amounts, believed: Amounts) -> list[int]:
    """Return the smallest sets of pods that fit on a node and seem to leave no room for ``pod``."""
    found: list[int] = []
    for mask in sorted(range(1 << len(others)), key=int.bit_count):
        if any(mask & smaller == smaller for smaller in found):
            continue
        chosen = [*_of(mask, others)]
        if fits(chosen, room) and not fits([*chosen, pod], believed):
            found.append(mask)
    return found


def unexplained(seen: Seen) -> list[str]:
    """Return what neither the pods' sizes nor first come, first served explains, as sentences.

    A pod may wait only if no node has room for it and no pool may add one that has. A node beyond the minimum must have
    pods, and there must be an order of arrival in which the nodes before it leave a pod over that fits on it. What a
    node of an empty pool has room for is what the autoscaler believes.
    """
    return [*_pods_with_room(seen), *_needless_nodes(seen)]


def _pods_with_room(seen: Seen) -> Iterator[str]:
    for node in seen.nodes:
        if not fits(node.pods, node.room):
            yield f"{node.name} has room for {node.room} and pods of {plus(node.pods)}"
    pools = {node.pool for node in seen.nodes}
    for pod in dict.fromkeys(seen.waiting):
        for node in seen.nodes:
            if fits([*node.pods, pod], node.room):
                yield f"a pod of {pod} waits, but {node.name} has room for {minus(node.room, plus(node.pods))}"
        for kind in seen.further:
            room = kind.room if kind.pool in pools else minus(kind.room, seen.held_back)
            if kind.count and fits([pod], room):
                yield f"a pod of {pod} waits, but {kind.pool} may add {kind.count} nodes with room for {room}"


def _needless_nodes(seen: Seen) -> Iterator[str]:
    for index, node in enumerate(seen.nodes):
        if not node.is_added:
            continue
        if not node.pods:
            yield f"{node.name} was added and is empty"
        elif not any(_asks_for(index, pod, seen) for pod in set(seen.pods)):
            yield f"{node.name} was added, but the {index} nodes before it have room for all pods in any order"


def _asks_for(index: int, pod: Amounts, seen: Seen) -> bool:
    """Return whether the nodes before one may leave over a pod that fits on it."""
    others, before = [*seen.pods], seen.nodes[:index]
    others.remove(pod)
    rooms = [each.room for each in before]
    return fits([pod], seen.nodes[index].room) and may_be_left_over(
        pod, others, rooms, [seen.believed(each) for each in before]
    )
