"""What a judge of one kind of expectation finds, before reasons and hints are added; and the units it judges."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from infra.config import StackConfig
from workbench.rehearsal.outcome import Costs
from workbench.rehearsal.record import AUTOSCALER, TAKEN, NodeRecord, PodEnd, PodRecord, Record, Refusal
from workbench.rehearsal.scenario.model import Scenario

JITTER: Final = 1.0
"""Real seconds by which a moment may differ between two runs (assumed): on a busy machine a request, a scan of the
autoscaler and a step of the simulator each come a little later."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """What every judge reads."""

    scenario: Scenario
    record: Record
    config: StackConfig
    costs: Costs | None = None

    @property
    def tolerance(self) -> float:
        """Seconds of the scenario by which a moment may differ between two runs."""
        return JITTER * self.record.speed


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the record shows about one expectation.

    Parameters
    ----------
    expectation, is_met, measured, may_vary
        As in ``Verdict``.
    pods
        Pods that miss it.
    refusals
        Refusals of units that miss it.
    nodes
        Nodes that miss it, for expectations about nodes.
    """

    expectation: str
    is_met: bool
    measured: str
    pods: tuple[PodRecord, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    nodes: tuple[NodeRecord, ...] = ()
    may_vary: str = ""


def unmoved(record: Record) -> Record:
    """Return a record as if the autoscaler had moved no pod: each stays where it was, in place of its successors."""
    moved = {pod.uid for pod in record.pods if pod.end is PodEnd.LOST and pod.end_cause.startswith(AUTOSCALER)}
    heirs = {pod.replaces: pod for pod in record.pods if pod.replaces in moved}

    def stayed(pod: PodRecord) -> PodRecord:
        if pod.uid not in moved:
            return pod
        if (heir := heirs.get(pod.uid)) is None:
            return replace(pod, ended=None, end=PodEnd.WAITS if pod.started is None else PodEnd.RUNS, end_cause="")
        last = stayed(heir)
        started = last.started if pod.started is None else pod.started
        return replace(pod, started=started, ended=last.ended, end=last.end, end_cause=last.end_cause)

    return replace(record, pods=tuple(stayed(pod) for pod in record.pods if pod.replaces not in moved))


def missing(record: Record, work: str) -> tuple[str, ...]:
    """Return the units of a work that have no pod at all, in order of arrival."""
    present = {pod.unit for pod in record.pods if pod.work == work}
    return tuple(unit for unit in record.units.get(work, ()) if unit not in present)


def refused(record: Record, work: str) -> tuple[Refusal, ...]:
    """Return the refusals that left a work without pods."""
    return tuple(each for each in record.refusals if each.work == work and each.missing)


def lacking(case: Case, work: str) -> tuple[int, tuple[Refusal, ...]]:
    """Return how many pods of a work are missing: refused, or of units that never arrived; and the refusals."""
    refusals = refused(case.record, work)
    never = {*missing(case.record, work)} - {each.unit for each in refusals}
    return sum(each.missing for each in refusals) + len(never) * case.scenario.works[work].pods, refusals


def share_is(good: int, total: int, percent: float) -> bool:
    """Return whether ``good`` is at least ``percent`` of ``total``; false if ``total`` is 0."""
    return total > 0 and good * 100 >= percent * total


def absent_text(absent: int) -> str:
    """Return how many pods are missing as a part of a measured text; empty if none is."""
    return f"{absent} refused or never created" if absent else ""


def joined(parts: Iterable[str]) -> str:
    """Return the non-empty parts of a measured text, joined."""
    return "; ".join(part for part in parts if part)


def taken(pods: Iterable[PodRecord]) -> tuple[PodRecord, ...]:
    """Return the pods that were lost or preempted, in order of their end."""
    return tuple(sorted((pod for pod in pods if pod.end in TAKEN), key=lambda pod: (pod.ended or 0.0, pod.name)))
