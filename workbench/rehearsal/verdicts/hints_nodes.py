"""Hints about nodes that stay, and about bounds of node-hours, money and nodes.

The autoscaler does not remove a node with a pod that no controller would create again, or that is annotated with
``safe-to-evict: "false"`` ("What types of pods can prevent CA from removing a node?" in
https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md).
"""

from collections.abc import Iterator
from typing import Final

from components.contract.labels import AnnotationKey
from components.contract.lifecycle import Lifecycle
from workbench.prices.node_hours import node_hours
from workbench.rehearsal.record import GroupFacts, NodeRecord
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.expectations import AtMost, MinimumAgain
from workbench.rehearsal.scenario.places import is_in
from workbench.rehearsal.scenario.work import WorkKind
from workbench.rehearsal.verdicts.miss import BARE_KINDS, Finders, Miss, named
from workbench.rehearsal.verdicts.nodes import named_types, price_of
from workbench.rehearsal.verdicts.verdict import Hint
from workbench.report.words import count

_FEW_HOURS: Final = 0.01


def held(miss: Miss) -> Iterator[Hint]:
    """Recognise that pods keep the autoscaler from removing nodes."""
    if not isinstance(miss.expectation, MinimumAgain):
        return
    seen: set[str] = set()
    for pod in miss.finding.pods:
        kind = miss.kind_of(pod)
        if pod.work in seen:
            continue
        seen.add(pod.work)
        ends = miss.has(pod.work, "runsFor")
        if kind is WorkKind.NOTEBOOK:
            cause = f'Notebooks of {named(pod)} are annotated {AnnotationKey.SAFE_TO_EVICT}: "false" and still run'
        elif kind in BARE_KINDS:
            cause = f"Bare pods of {named(pod)} still run, and nothing would create them again elsewhere"
        else:
            cause = f"Pods of {named(pod)} still run there"
        yield Hint(
            cause=f"{cause}, so the autoscaler keeps node {pod.node}.",
            action=f"Let the work end before the scenario does ({'runsFor, or ' if ends else ''}stays of its arrival), "
            "or expect more nodes.",
            path=f"works.{pod.work}.runsFor" if ends else "arrivals",
        )
    if not miss.finding.pods:
        at = miss.expectation.at
        yield Hint(
            cause="The nodes are empty, but the autoscaler had not removed them "
            + ("when the scenario ended." if at is None else f"at {duration_text(at)}."),
            action=("Let the scenario last longer than" if at is None else "Expect it later than")
            + " the autoscaler's delay after the last work.",
            path="lasts" if at is None else "expectations",
        )


def idle_minimum(miss: Miss) -> Iterator[Hint]:
    """Recognise that nodes of the minimum ran without work."""
    if not isinstance(miss.expectation, AtMost):
        return
    busy = {pod.node for pod in miss.record.pods if pod.work and pod.node}
    for group in _in_place(miss):
        if not group.is_elastic or not group.min:
            continue
        idle = [node for node in _nodes(miss, group) if node.name not in busy]
        spent = sum(node_hours(node, miss.record.lasts) for node in idle)
        if spent > _FEW_HOURS:
            yield Hint(
                cause=f"Pool {group.pool} keeps {count(group.min, 'node')}; {len(idle)} of its nodes ran no work of "
                f"the scenario and took {spent:.1f} node-hours.",
                action="Lower size.min.",
                path=f"pools.{group.pool}.size.min",
            )


def unknown_price(miss: Miss) -> Iterator[Hint]:
    """Recognise that the bound in money cannot be judged without a price."""
    if not isinstance(miss.expectation, AtMost) or miss.expectation.usd is None:
        return
    if unpriced := price_of(miss.record, miss.finding.nodes, miss.case.costs).unpriced:
        kinds = {node.lifecycle for node in miss.finding.nodes if node.instance_type in unpriced}
        if kinds == {Lifecycle.RESERVED.value}:
            yield Hint(
                cause=f"Reserved capacity has no price of an hour: {named_types(unpriced)}.",
                action="Expect nodeHours instead of usd.",
                path="expectations",
            )
            return
        yield Hint(
            cause=f"The price is not known of {named_types(unpriced)}.",
            action="Read the account's own prices: `igz-clusters prices refresh`; or expect nodeHours instead of usd.",
            path="expectations",
        )


def largest_share(miss: Miss) -> Iterator[Hint]:
    """Recognise which pool uses most of what the bound limits, and what would make it cheaper."""
    if not isinstance(miss.expectation, AtMost):
        return
    groups = list(_in_place(miss))
    spent = {group.name: sum(node_hours(node, miss.record.lasts) for node in _nodes(miss, group)) for group in groups}
    groups = [group for group in groups if spent[group.name] > _FEW_HOURS]
    if not groups:
        return
    group = max(groups, key=lambda each: (spent[each.name], each.name))
    yield Hint(
        cause=f"Pool {group.pool} takes {spent[group.name]:.1f} of {sum(spent.values()):.1f} node-hours.",
        action="Lower size.max, which makes work wait, or choose a machine type that the work fills better.",
        path=f"pools.{group.pool}.size.max",
    )
    if miss.expectation.usd is not None and group.lifecycle == Lifecycle.ON_DEMAND and group.is_elastic:
        yield Hint(
            cause=f"Pool {group.pool} is on-demand.",
            action="Use spot nodes for work that may be interrupted.",
            path=f"pools.{group.pool}.lifecycle",
        )


def _in_place(miss: Miss) -> Iterator[GroupFacts]:
    return (group for group in miss.record.groups if is_in(group, miss.expectation.place))


def _nodes(miss: Miss, group: GroupFacts) -> list[NodeRecord]:
    return [node for node in miss.record.nodes if node.group == group.name]


FINDERS: Final[Finders] = (held, unknown_price, idle_minimum, largest_share)
