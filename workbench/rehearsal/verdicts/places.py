"""Judges where pods ran: ``lands-on``, ``never-on`` and ``core-services-unmoved``."""

from collections import Counter

from workbench.rehearsal.record import PodRecord, Record
from workbench.rehearsal.scenario.expectations import CoreServicesUnmoved, LandsOn, NeverOn
from workbench.rehearsal.scenario.places import is_in
from workbench.rehearsal.scenario.work import WorkKind
from workbench.rehearsal.verdicts.finding import Case, Finding, absent_text, joined, lacking
from workbench.report.words import count


def lands_on(case: Case, expectation: LandsOn) -> Finding:
    """Judge whether every pod ran in the place; pods without a node and units without a pod miss it."""
    record, place = case.record, expectation.place
    pods = record.of_work(expectation.work)
    outside = tuple(pod for pod in pods if not is_in(record.node(pod.node), place))
    absent, refusals = lacking(case, expectation.work)
    waiting = sum(pod.node is None for pod in outside)
    measured = joined(
        [
            f"{len(pods) - len(outside)} of {count(len(pods) + absent, 'pod')} on {place.text}",
            _elsewhere(record, outside),
            f"{waiting} without a node" if waiting else "",
            absent_text(absent),
        ]
    )
    return Finding(
        expectation=f"{expectation.work} lands on {place.text}",
        is_met=bool(pods) and not outside and not absent,
        measured=measured,
        pods=outside,
        refusals=refusals,
    )


def never_on(case: Case, expectation: NeverOn) -> Finding:
    """Judge whether no pod ever ran in the place."""
    record, place = case.record, expectation.place
    pods = record.of_work(expectation.work)
    inside = tuple(pod for pod in pods if is_in(record.node(pod.node), place))
    placed = sum(pod.node is not None for pod in pods)
    return Finding(
        expectation=f"{expectation.work} never runs on {place.text}",
        is_met=not inside,
        measured=f"{len(inside)} of {count(placed, 'pod')} with a node ran on {place.text}",
        pods=inside,
    )


def core_services_unmoved(case: Case, expectation: CoreServicesUnmoved) -> Finding:  # noqa: ARG001 it has no fields
    """Judge whether the pods of core services that ran at the start are those that run at the end."""
    pods = [pod for pod in case.record.pods if pod.kind == WorkKind.CORE_SERVICE]
    at_start = [pod for pod in pods if _runs_at(pod, 0.0)]
    moved = tuple(pod for pod in at_start if pod.ended is not None and pod.ended <= case.record.lasts)
    waiting = tuple(pod for pod in pods if pod.created <= 0 and pod.started is None)
    measured = joined(
        [
            (
                f"{len(at_start) - len(moved)} of {count(len(at_start), 'pod')} that ran at the start still on "
                f"their nodes"
            ),
            f"{count(len(waiting), 'pod')} never ran" if waiting else "",
        ]
    )
    return Finding(
        expectation="core services stay on their nodes",
        is_met=bool(at_start) and not moved,
        measured=measured,
        pods=moved or (() if at_start else waiting),
    )


def _runs_at(pod: PodRecord, moment: float) -> bool:
    return pod.started is not None and pod.started <= moment and (pod.ended is None or pod.ended > moment)


def _elsewhere(record: Record, pods: tuple[PodRecord, ...]) -> str:
    """Return where the pods that have a node ran instead."""
    nodes = [record.node(pod.node) for pod in pods if pod.node]
    pools = Counter(f"pool {node.pool}" if node else "unknown nodes" for node in nodes)
    return ", ".join(f"{count} on {pool}" for pool, count in pools.most_common())
