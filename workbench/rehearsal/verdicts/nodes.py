"""Judges nodes: ``minimum-again`` and ``at-most``."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from workbench.prices.node_hours import HOUR, life, node_hours
from workbench.rehearsal.amounts import most_at_once
from workbench.rehearsal.outcome import Cost, Costs
from workbench.rehearsal.record import NodeRecord, Record
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.expectations import AtMost, MinimumAgain
from workbench.rehearsal.scenario.places import Place, is_in
from workbench.rehearsal.verdicts.finding import Case, Finding, joined
from workbench.report.words import count


def minimum_again(case: Case, expectation: MinimumAgain) -> Finding:
    """Judge whether no elastic group of the place has more nodes than its current minimum and its pool's headroom.

    Work that still runs may hold the nodes of the minimum, so that headroom takes nodes of its own.
    """
    record = case.record
    at = record.lasts if expectation.at is None else float(expectation.at)
    groups = [group for group in record.groups if group.is_elastic and is_in(group, expectation.place)]
    least = {group.name: record.minimum(group, at) for group in groups}
    there = [node for node in record.nodes if node.created <= at and (node.gone is None or node.gone > at)]
    left = {group.name: [node for node in there if node.group == group.name] for group in groups}
    beyond, room = Counter[str](), Counter[str]()
    for group in groups:
        beyond[group.pool] += max(0, len(left[group.name]) - least[group.name])
        room[group.pool] = max(room[group.pool], group.headroom)
    above = [
        group for group in groups if len(left[group.name]) > least[group.name] and beyond[group.pool] > room[group.pool]
    ]
    extra = tuple(node for group in above for node in left[group.name])
    held = {node.name for node in extra}
    said = ", ".join(
        f"{group.name} has {count(len(left[group.name]), 'node')}, minimum {least[group.name]}"
        + (f", headroom {room[group.pool]}" if room[group.pool] else "")
        for group in above
    )
    on_them = [pod for pod in record.pods if pod.node in held]
    recent = any(pod.ended is not None and abs(at - pod.ended) <= case.tolerance for pod in on_them)
    all_back = f"{count(len(groups), 'elastic group')} at the minimum" if groups else "no elastic group there"
    return Finding(
        expectation=f"{_groups(expectation.place)} are at their minimum again"
        + ("" if expectation.at is None else f" at {duration_text(at)}"),
        is_met=not above,
        measured=said or all_back,
        pods=tuple(pod for pod in on_them if pod.work and pod.created <= at and (pod.ended is None or pod.ended > at)),
        nodes=extra,
        may_vary="work on these nodes ended just about then" if recent else "",
    )


def _groups(place: Place) -> str:
    return "all elastic groups" if place == Place() else f"elastic groups of {place.text}"


def at_most(case: Case, expectation: AtMost) -> Finding:
    """Judge whether node-hours, price and number of nodes of the place stay within the bounds."""
    record, place = case.record, expectation.place
    nodes = tuple(node for node in record.nodes if is_in(node, place))
    total, most = sum(node_hours(node, record.lasts) for node in nodes), peak(nodes, record.lasts)
    bounds, parts, met, near = [], [], [], False
    elastic = {group.name for group in record.groups if group.is_elastic}
    slack = case.tolerance / HOUR * sum(node.group in elastic for node in nodes)
    if expectation.node_hours is not None:
        bounds.append(f"{expectation.node_hours:g} node-hours")
        parts.append(f"{total:.1f} node-hours")
        met.append(total <= expectation.node_hours)
        near |= abs(total - expectation.node_hours) <= slack
    if expectation.usd is not None:
        price = price_of(record, nodes, case.costs)
        fee = case.costs.control_plane if case.costs and place == Place() else 0.0
        bounds.append(f"{expectation.usd:g} USD")
        parts.append(_price_text(price, fee, expectation.usd))
        met.append(not price.unpriced and price.usd + fee <= expectation.usd)
        near |= bool(total and price.usd and abs(price.usd + fee - expectation.usd) <= slack * price.usd / total)
    if expectation.nodes is not None:
        bounds.append(f"{expectation.nodes} nodes at a time")
        parts.append(f"{count(most, 'node')} at a time")
        met.append(most <= expectation.nodes)
        peaks = (peak(_lived(nodes, elastic, by), record.lasts) for by in (-case.tolerance, case.tolerance))
        near |= any((each <= expectation.nodes) is not met[-1] for each in peaks)
    return Finding(
        expectation=f"at most {' and '.join(bounds)} of {place.text}",
        is_met=all(met),
        measured=joined(parts),
        nodes=() if all(met) else nodes,
        may_vary=f"how long nodes live, by {duration_text(case.tolerance)} each" if near else "",
    )


def _lived(nodes: Iterable[NodeRecord], elastic: set[str], by: float) -> list[NodeRecord]:
    """Return the nodes, those of elastic groups as if created earlier and removed later by so many seconds."""
    return [
        replace(node, created=node.created - by, gone=None if node.gone is None else node.gone + by)
        if node.group in elastic
        else node
        for node in nodes
    ]


def peak(nodes: Iterable[NodeRecord], lasts: float) -> int:
    """Return the greatest number of nodes that existed at one moment of the scenario."""
    spans = (life(node, lasts) for node in nodes)
    return int(most_at_once((begin, end, 1) for begin, end in spans if end > begin))


def price_of(record: Record, nodes: Sequence[NodeRecord], costs: Costs | None) -> Cost:
    """Return the price of the nodes of a place.

    A place is a set of pools; a place in one zone gets its share of each pool's price by node-hours.
    """
    present = [node for node in nodes if node_hours(node, record.lasts)]
    total = sum(node_hours(node, record.lasts) for node in present)
    if costs is None:
        return Cost(node_hours=total, usd=0.0, unpriced=tuple(sorted({node.instance_type for node in present})))
    usd, unpriced = 0.0, set[str]()
    for pool in sorted({node.pool for node in present}):
        cost = costs.by_pool[pool]
        mine = sum(node_hours(node, record.lasts) for node in present if node.pool == pool)
        usd += cost.usd * mine / cost.node_hours
        unpriced.update(cost.unpriced)
    return Cost(node_hours=total, usd=usd, unpriced=tuple(sorted(unpriced)))


def named_types(unpriced: Iterable[str]) -> str:
    """Return machine types without a price in words; those of ``machine`` pools have no name."""
    return ", ".join(name or "machines without a type" for name in unpriced)


def _price_text(cost: Cost, fee: float, bound: float) -> str:
    usd = cost.usd + fee
    known = f"{usd:.2f} USD" + (f", {fee:.2f} of it for the control plane" if fee else "")
    if not cost.unpriced:
        return known
    missing = f"no price of {named_types(cost.unpriced)}"
    if usd > bound:
        return f"at least {known}: {missing}"
    return f"cannot be judged: {f'at least {known}, ' if usd else ''}{missing}"
