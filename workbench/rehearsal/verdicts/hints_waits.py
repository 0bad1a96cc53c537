"""Hints about waits of pods that ran in the end: for a new node, or behind work of higher priority."""

from collections.abc import Iterator
from typing import Final

from components.contract.eks.config import EksConfig
from components.contract.labels import TRUE, LabelKey
from components.contract.local.config import LocalConfig
from components.contract.priorities import UserPriority
from workbench.rehearsal.record import PodRecord
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.expectations import WaitsAtMost
from workbench.rehearsal.verdicts.miss import Finders, Miss, named
from workbench.rehearsal.verdicts.verdict import Hint
from workbench.rehearsal.verdicts.waits import wait_of
from workbench.report.words import count


def node_start(miss: Miss) -> Iterator[Hint]:
    """Recognise that pods waited for a node that started for them, which takes longer than the bound."""
    if not isinstance(miss.expectation, WaitsAtMost):
        return
    more = " or keep headroom" if isinstance(miss.config.cluster, EksConfig | LocalConfig) else ""
    seen: set[str] = set()
    for pod in miss.finding.pods:
        node = miss.record.node(pod.node)
        if node is None or node.created < pod.created or pod.started is None or node.pool in seen:
            continue
        seen.add(node.pool)
        ready = node.ready if node.ready is not None else pod.started
        low = sum(group.min for group in miss.record.groups if group.pool == node.pool)
        yield Hint(
            cause=f"{named(pod)} waited {duration_text(wait_of(pod, miss.record.lasts))}, of which its new node took "
            f"{duration_text(ready - node.created)} to start; the bound is {duration_text(miss.expectation.time)}, and "
            f"pool {node.pool} keeps {count(low, 'node')}.",
            action=f"Raise size.min{more}, so that nodes are ready before the work arrives, or allow a longer wait.",
            path=f"pools.{node.pool}.size.min",
        )


def starved(miss: Miss) -> Iterator[Hint]:
    """Recognise that pods of higher priority that arrived later ran first."""
    for pod in miss.shapes:
        own, pools = _priority(pod), {group.pool for group in miss.fitting(pod)}
        until = pod.created + wait_of(pod, miss.record.lasts)
        after = [
            other
            for other in miss.record.pods
            if other.work
            and other.started is not None
            and pod.created <= other.created
            and other.started < until
            and _priority(other) > own
            and (node := miss.record.node(other.node))
            and node.pool in pools
        ]
        if after:
            yield Hint(
                cause=f"{named(pod)} (priority {_name(pod)}) waited while {count(len(after), 'later pod')} of higher "
                f"priority, such as {after[0].name} ({_name(after[0])}), started.",
                action=f"Use {UserPriority.MEDIUM} or {UserPriority.HIGH} if the work must not wait, or raise "
                "size.max of its pool.",
                path=miss.field(pod.work, "priority"),
            )


def _priority(pod: PodRecord) -> int:
    value = pod.spec.get("priority")
    if isinstance(value, int):
        return value
    name = _name(pod)
    return UserPriority(name).priority if name in list(UserPriority) else 0


def _name(pod: PodRecord) -> str:
    return str(pod.spec.get("priorityClassName") or "none")


def critical_label(miss: Miss) -> Iterator[Hint]:
    """Recognise that work that others wait for does not have the highest class."""
    work = miss.work
    if work and work.labels.get(LabelKey.CRITICAL.value) == TRUE and work.priority not in (None, UserPriority.HIGH):
        yield Hint(
            cause=f"{miss.work_name} is marked as critical but has the class {work.priority}.",
            action=f"Set priority: {UserPriority.HIGH}.",
            path=f"works.{miss.work_name}.priority",
        )


FINDERS: Final[Finders] = (starved, node_start, critical_label)
