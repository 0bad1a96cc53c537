"""Figures of an outcome that every report shows: nodes and costs of pools, waits of works, lost and waiting pods."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from workbench.rehearsal.outcome import Cost, Outcome
from workbench.rehearsal.record import TAKEN, PodRecord, Record
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.verdicts.finding import taken
from workbench.rehearsal.verdicts.nodes import peak
from workbench.rehearsal.verdicts.verdict import Verdict
from workbench.rehearsal.verdicts.waits import percentile, wait_of
from workbench.report.words import count

LONG_WAIT: Final = 300.0
"""Seconds of waiting from which a pod is listed among those that waited long, even if it ran in the end."""


@dataclass(frozen=True, kw_only=True)
class PoolFigures:
    """Nodes and costs of a pool."""

    pool: str
    role: str
    machines: tuple[str, ...]
    """Instance types of its groups."""
    lifecycles: tuple[str, ...]
    least: int
    """Smallest size of the pool: that of its groups together."""
    most: int
    """Largest size of the pool."""
    peak: int
    """Most nodes at any one time."""
    cost: Cost | None
    """Null if it is not known."""

    @property
    def sizes(self) -> str:
        """Its sizes, as ``min..peak..max``."""
        return f"{self.least}..{self.peak}..{self.most}"


@dataclass(frozen=True, kw_only=True)
class WorkFigures:
    """Numbers of the pods of a work, and their waits from creation to start in seconds of the scenario.

    Pods that never ran count with the time until they ended or the scenario did.
    """

    work: str
    kind: str
    team: str
    pods: int
    waiting: int
    """Pods that never ran."""
    lost: int
    """Pods that were lost or preempted."""
    median: float
    p95: float
    longest: float


def headline(outcomes: Iterable[Outcome]) -> str:
    """Return the verdict of outcomes in words, such as ``2 of 9 expectations missed``."""
    played = [outcome for outcome in outcomes if not outcome.skipped]
    total, missed = sum(len(each.verdicts) for each in played), sum(each.missed for each in played)
    if not played:
        return "Skipped: no scenario applies"
    if lost := sum(bool(each.lost) for each in played):
        others = f", {missed} of {total} other expectations missed" if total else ""
        return f"{count(lost, 'scenario')} without a verdict{others}"
    if missed:
        return f"{missed} of {total} expectations missed"
    return {0: "No expectations", 1: "The expectation is met"}.get(total, f"All {total} expectations met")


def standing(outcome: Outcome) -> str:
    """Return the verdict of one outcome in words, or why it has none."""
    if outcome.lost:
        return f"No verdict: {outcome.lost.splitlines()[0]}"
    return f"Skipped: {outcome.skipped}" if outcome.skipped else headline([outcome])


def brief(outcome: Outcome) -> str:
    """Return the verdict of an outcome for a matrix: ``met``, ``2 of 9 missed``, ``skipped`` or ``no verdict``."""
    if outcome.record is None:
        return "skipped" if outcome.skipped else "no verdict"
    return "met" if outcome.is_met else f"{outcome.missed} of {len(outcome.verdicts)} missed"


def works(record: Record) -> tuple[WorkFigures, ...]:
    """Return the figures of each work, in order of the first pod."""
    by_work: dict[str, list[PodRecord]] = {}
    for pod in sorted(record.pods, key=lambda each: each.created):
        if pod.work:
            by_work.setdefault(pod.work, []).append(pod)
    return tuple(_work(work, pods, record) for work, pods in by_work.items())


def _work(work: str, pods: Sequence[PodRecord], record: Record) -> WorkFigures:
    waits = [wait_of(pod, record.lasts) for pod in pods]
    return WorkFigures(
        work=work,
        kind=pods[0].kind,
        team=pods[0].team,
        pods=len(pods),
        waiting=sum(pod.started is None for pod in pods),
        lost=sum(pod.end in TAKEN for pod in pods),
        median=percentile(waits, 50),
        p95=percentile(waits, 95),
        longest=max(waits),
    )


def pools(outcome: Outcome) -> tuple[PoolFigures, ...]:
    """Return the figures of each pool, in order of the stack's groups; empty for a skipped outcome."""
    if outcome.record is None:
        return ()
    record, costs = outcome.record, outcome.costs
    return tuple(
        PoolFigures(
            pool=pool,
            role=groups[0].role,
            machines=tuple(dict.fromkeys(each.instance_type for each in groups)),
            lifecycles=tuple(dict.fromkeys(each.lifecycle for each in groups)),
            least=sum(each.min for each in groups),
            most=sum(each.max for each in groups),
            peak=peak([node for node in record.nodes if node.pool == pool], record.lasts),
            cost=costs.by_pool.get(pool) if costs else None,
        )
        for pool in dict.fromkeys(each.pool for each in record.groups)
        if (groups := [each for each in record.groups if each.pool == pool])
    )


def lost(record: Record) -> tuple[PodRecord, ...]:
    """Return the pods of works that were lost or preempted, in order of their end."""
    return taken(pod for pod in record.pods if pod.work)


def pending(record: Record) -> tuple[PodRecord, ...]:
    """Return pods that never ran, then those that waited longer than ``LONG_WAIT``; the longest waits first."""
    slow = [pod for pod in record.pods if pod.started is None or (pod.work and wait_of(pod, record.lasts) > LONG_WAIT)]
    return tuple(sorted(slow, key=lambda pod: (pod.started is not None, -wait_of(pod, record.lasts), pod.name)))


def explanation(pod: PodRecord, outcome: Outcome) -> Verdict | None:
    """Return the missed expectation whose hints explain the wait of a pod: one that names it, or a pod of its work."""
    missed = [verdict for verdict in outcome.verdicts if not verdict.is_met and verdict.hints]
    siblings = {each.name for each in outcome.record.of_work(pod.work)} if outcome.record and pod.work else set()
    named = (verdict for verdict in missed if pod.name in verdict.pods)
    return next(named, next((verdict for verdict in missed if siblings.intersection(verdict.pods)), None))


def money(cost: Cost | None) -> str:
    """Return the price of nodes, such as ``12.40``; ``at least 12.40`` if some have no price, ``-`` if none has."""
    if cost is None or not cost.is_priced:
        return "-"
    return f"{'at least ' if cost.unpriced else ''}{cost.usd:,.2f}"


def hours(cost: Cost | None) -> str:
    """Return node-hours with one decimal; ``-`` if they are not known."""
    return "-" if cost is None else f"{cost.node_hours:,.1f}"


def lasting(seconds: float) -> str:
    """Return a duration for people: seconds below ten minutes, minutes from there, as in ``2m10s`` and ``1h54m``."""
    whole = round(seconds) if abs(seconds) < 600 else round(seconds / 60) * 60  # noqa: PLR2004
    return duration_text(whole) if whole >= 0 else f"-{duration_text(-whole)}"
