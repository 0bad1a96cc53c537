"""Hints about pods that were lost: on spot nodes, without a controller, by the autoscaler, or for a higher priority."""

from collections.abc import Iterator
from typing import Final

from components.contract.labels import AnnotationKey, LabelKey
from components.contract.lifecycle import Lifecycle
from workbench.rehearsal.record import TAKEN, PodEnd, PodRecord
from workbench.rehearsal.scenario.work import WorkKind
from workbench.rehearsal.verdicts.miss import BARE_KINDS, Finders, Miss, named
from workbench.rehearsal.verdicts.verdict import Hint


def on_spot(miss: Miss) -> Iterator[Hint]:
    """Recognise that work that must survive ran on spot nodes that the cloud took back."""
    seen: set[str] = set()
    for pod in _ended(miss, PodEnd.LOST):
        node = miss.record.node(pod.node)
        kind = miss.kind_of(pod)
        if not node or (node.lifecycle, node.gone_cause) != (Lifecycle.SPOT, "spot-reclaim") or pod.work in seen:
            continue
        seen.add(pod.work)
        if getattr(miss.expectation, "expect", "") == "restarted":
            continue
        why = " and keeps its state in memory" if kind is WorkKind.NOTEBOOK else ""
        yield Hint(
            cause=f"{named(pod)} ran on spot nodes of pool {node.pool}{why}, and the cloud took one back.",
            action="Set mode: prevent, which keeps the work on on-demand nodes."
            if miss.has(pod.work, "mode")
            else f"Select on-demand nodes: {LabelKey.LIFECYCLE}: {Lifecycle.ON_DEMAND.label_value}.",
            path=miss.field(pod.work, "mode", "nodeSelector"),
        )
        yield Hint(
            cause=f"Pool {node.pool}, on which {named(pod)} ran, has spot nodes.",
            action="Set lifecycle: on-demand for the pool if its work must survive.",
            path=f"pools.{node.pool}.lifecycle",
        )


def bare_pods(miss: Miss) -> Iterator[Hint]:
    """Recognise that nothing creates a lost pod of this kind again."""
    seen: set[str] = set()
    for pod in _ended(miss, *TAKEN):
        kind = miss.kind_of(pod)
        if kind in BARE_KINDS and pod.work not in seen:
            seen.add(pod.work)
            yield Hint(
                cause=f"Pods of {named(pod)} ({kind}) have no controller: nothing creates a lost one again.",
                action="Use a kind that restarts, such as batch-job, retry outside of the cluster, or keep the work "
                "off nodes that may go.",
                path=miss.field(pod.work, "kind"),
            )


def not_restarted(miss: Miss) -> Iterator[Hint]:
    """Recognise that no pod was lost at all, so that a restart was never seen."""
    if getattr(miss.expectation, "expect", "") == "restarted" and not miss.finding.pods and not miss.finding.refusals:
        yield Hint(
            cause=f"No pod of {miss.work_name} was lost, so the rehearsal shows no restart.",
            action="Add an event that takes its nodes, such as node-failure, while it runs.",
            path="events",
        )


def by_autoscaler(miss: Miss) -> Iterator[Hint]:
    """Recognise that the autoscaler removed the node, and the pod with it."""
    for pod in _ended(miss, PodEnd.LOST):
        node = miss.record.node(pod.node)
        if node and node.gone_cause == "autoscaler":
            yield Hint(
                cause=f"The autoscaler removed node {node.name} of pool {node.pool}, since its pods fit elsewhere, "
                f"and {pod.name} was evicted.",
                action=f'Annotate pods that must not move with {AnnotationKey.SAFE_TO_EVICT}: "false", or raise '
                f"size.min.",
                path=f"pools.{node.pool}.size.min",
            )
            return


def preempted(miss: Miss) -> Iterator[Hint]:
    """Recognise that the scheduler evicted the pod for one of higher priority."""
    for pod in _ended(miss, PodEnd.PREEMPTED):
        node = miss.record.node(pod.node)
        yield Hint(
            cause=f"{pod.name} was evicted for a pod of higher priority"
            + (f": {pod.end_cause}." if pod.end_cause else "."),
            action="Use a higher priority for the work, and system classes for core services only.",
            path=miss.field(pod.work, "priority"),
        )
        if node:
            yield Hint(
                cause=f"Pool {node.pool} had no room for both, so the higher priority evicted {named(pod)}.",
                action="Raise size.max of the pool.",
                path=f"pools.{node.pool}.size.max",
            )
        return


def _ended(miss: Miss, *ends: PodEnd) -> Iterator[PodRecord]:
    return (pod for pod in miss.finding.pods if pod.end in ends)


FINDERS: Final[Finders] = (
    on_spot,
    bare_pods,
    not_restarted,
    by_autoscaler,
    preempted,
)
