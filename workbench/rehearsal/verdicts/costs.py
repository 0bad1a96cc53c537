"""What the nodes of a record cost, by pool, lifecycle and team, and what its control plane costs."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from workbench.prices.node_hours import HOUR, life, node_hours
from workbench.rehearsal.outcome import Cost, Costs
from workbench.rehearsal.record import NodeRecord, PodRecord, Record

PriceOf = Callable[[str, str], float | None]
"""Price of an hour in US dollars, by machine type and lifecycle; None if it is not known."""


class _Sum:
    """A cost while it is added up."""

    def __init__(self) -> None:
        self.hours = 0.0
        self.usd = 0.0
        self.unpriced: set[str] = set()

    def add(self, node: NodeRecord, hours_of_it: float, price: float | None) -> None:
        self.hours += hours_of_it
        self.usd += (price or 0.0) * hours_of_it
        if price is None and hours_of_it:
            self.unpriced.add(node.instance_type)

    @property
    def cost(self) -> Cost:
        return Cost(node_hours=self.hours, usd=self.usd, unpriced=tuple(sorted(self.unpriced)))


def costs_of(record: Record, price_of: PriceOf, *, fee: float = 0.0, prices: str = "") -> Costs:
    """Return what the nodes and the control plane of a record cost.

    Parameters
    ----------
    record
        What happened.
    price_of
        Price of an hour; called once for each machine type and lifecycle.
    fee
        US dollars an hour of the control plane.
    prices
        Where the prices are from and of which date, as one sentence. Default: not said.
    """
    known: dict[tuple[str, str], float | None] = {}
    total, by_pool, by_lifecycle, by_team = _Sum(), _sums(), _sums(), _sums()
    pods = _by_node(record.pods)
    for node in record.nodes:
        key = (node.instance_type, node.lifecycle)
        if key not in known:
            known[key] = price_of(*key)
        price, own = known[key], node_hours(node, record.lasts)
        for one in (total, by_pool[node.pool], by_lifecycle[node.lifecycle]):
            one.add(node, own, price)
        for team, part in team_hours(node, pods[node.name], record.lasts).items():
            by_team[team].add(node, part, price)
    total.usd += (control_plane := fee * record.lasts / HOUR)
    return Costs(
        total=total.cost,
        control_plane=control_plane,
        by_pool=_costs(by_pool),
        by_lifecycle=_costs(by_lifecycle),
        by_team=_costs(by_team),
        prices=prices,
    )


def team_hours(node: NodeRecord, pods: Iterable[PodRecord], lasts: float) -> dict[str, float]:
    """Return the hours of a node by the team whose pods requested it; ``""`` has the rest.

    A pod's share is the larger of its shares of CPU and memory, on GPU nodes that of GPUs. Where shares exceed the
    node together, because some pods need CPU and others memory, each is reduced in proportion.
    """
    parts: dict[str, float] = defaultdict(float)
    owned = [pod for pod in pods if pod.team and pod.scheduled is not None]
    for start, end, present in _spans(node, owned, lasts):
        shares = [share_of(pod, node) for pod in present]
        scale = 1 / max(1.0, sum(shares))
        for pod, share in zip(present, shares, strict=True):
            parts[pod.team] += share * scale * (end - start) / HOUR
    parts[""] = max(0.0, node_hours(node, lasts) - sum(parts.values()))
    return dict(parts)


def share_of(pod: PodRecord, node: NodeRecord) -> float:
    """Return the share of a node that a pod requests, from 0 to 1."""
    pairs = (
        [(pod.gpus, node.gpus)] if node.gpus else [(pod.cpu_millis, node.cpu_millis), (pod.memory_mib, node.memory_mib)]
    )
    return min(1.0, max((asked / offered for asked, offered in pairs if offered), default=0.0))


def _spans(node: NodeRecord, pods: list[PodRecord], lasts: float) -> Iterator[tuple[float, float, list[PodRecord]]]:
    """Yield the spans of time between changes on a node, with the pods that it has."""
    begin, end = life(node, lasts)
    changes: list[tuple[float, int, PodRecord]] = []
    for pod in pods:
        start = min(max(begin, pod.scheduled or 0.0), end)
        stop = min(max(begin, end if pod.ended is None else pod.ended), end)
        if stop > start:
            changes += [(start, 1, pod), (stop, -1, pod)]
    changes.sort(key=lambda change: change[0])
    present: dict[str, PodRecord] = {}
    last = begin
    for moment, sign, pod in changes:
        if moment > last and present:
            yield last, moment, list(present.values())
        last = moment
        if sign > 0:
            present[pod.uid] = pod
        else:
            present.pop(pod.uid, None)


def _by_node(pods: Iterable[PodRecord]) -> dict[str, list[PodRecord]]:
    found: dict[str, list[PodRecord]] = defaultdict(list)
    for pod in pods:
        if pod.node:
            found[pod.node].append(pod)
    return found


def _sums() -> defaultdict[str, _Sum]:
    return defaultdict(_Sum)


def _costs(sums: dict[str, _Sum]) -> dict[str, Cost]:
    return {key: each.cost for key, each in sums.items()}
