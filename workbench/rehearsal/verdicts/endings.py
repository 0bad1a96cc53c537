"""Judges how units ended: ``completes``, ``survives``, ``restarted`` and ``refused``."""

from collections import Counter
from typing import Final

from workbench.rehearsal.record import PodEnd, PodRecord
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.expectations import Completes, Refused, Restarted, Survives
from workbench.rehearsal.scenario.work import WorkKind
from workbench.rehearsal.verdicts.finding import (
    Case,
    Finding,
    absent_text,
    joined,
    lacking,
    missing,
    refused,
    share_is,
    taken,
)
from workbench.report.words import count

LEADERS: Final = {WorkKind.SPARK: "driver", WorkKind.MPI: "launcher"}
"""Part of the name of the pod whose success is that of its unit: ``NAME-driver`` (``getDriverPodName`` of Spark
Operator), ``NAME-launcher`` (``launcherSuffix`` of MPI Operator)."""


def completes(case: Case, expectation: Completes) -> Finding:
    """Judge whether a share of the units ended successfully in time."""
    record, work = case.record, case.scenario.works[expectation.work]
    units: dict[str, list[PodRecord]] = {unit: [] for unit in record.units.get(expectation.work, ())}
    for pod in record.of_work(expectation.work):
        units.setdefault(pod.unit, []).append(pod)
    steps = work.workers if work.kind is WorkKind.PIPELINE else 1
    open_units = {unit: _blocking(work.kind, pods, steps, record.lasts) for unit, pods in units.items()}
    done = sum(not pods and bool(units[unit]) for unit, pods in open_units.items())
    is_met = share_is(done, len(units), expectation.percent)
    late = tuple(pod for pods in open_units.values() for pod in pods)
    ends = Counter(pod.end.value for pod in late)
    absent = missing(record, expectation.work)
    near = [pod for pods in units.values() for pod in pods if _is_near(case, pod, work.runs_for)]
    return Finding(
        expectation=f"{expectation.work} completes"
        + ("" if expectation.percent == 100 else f" ({expectation.percent:g} % of its units)"),  # noqa: PLR2004 all
        is_met=is_met,
        measured=joined(
            [
                f"{done} of {count(len(units), 'unit')} completed",
                "pods of the others: " + ", ".join(f"{n} {end}" for end, n in ends.items()) if late else "",
                f"{count(len(absent), 'unit')} refused or never created" if absent else "",
            ]
        ),
        pods=() if is_met else late,
        refusals=() if is_met else refused(record, expectation.work),
        may_vary="units that end about when the scenario ends" if near else "",
    )


def _blocking(kind: WorkKind, pods: list[PodRecord], steps: int, lasts: float) -> list[PodRecord]:
    """Return the pods that keep a unit from being complete, those without a node first: others wait for them."""
    led = [pod for pod in pods if LEADERS.get(kind, "\n") in pod.name] or pods
    good = [pod for pod in led if pod.end is PodEnd.SUCCEEDED and pod.ended is not None and pod.ended <= lasts]
    replaced = {pod.replaces for pod in pods}
    is_open = {
        pod.uid: pod not in good
        and pod.end not in (PodEnd.DELETED, PodEnd.SUCCEEDED)
        and pod.uid not in replaced
        and not _is_redone(pod, good)
        for pod in pods
    }
    is_led_by_others = len(led) < len(pods)
    if good and (is_led_by_others or (len(good) >= steps and not any(is_open[pod.uid] for pod in led))):
        return []
    return sorted((pod for pod in pods if is_open[pod.uid]), key=lambda pod: pod.node is not None) or led[-1:]


def _is_redone(pod: PodRecord, good: list[PodRecord]) -> bool:
    """Return whether a pod that ended badly was followed by one of its unit that succeeded.

    A controller creates another pod once one is marked for deletion, which counts as its end. Pods that are older than
    that end worked at the same time.
    """
    return pod.ended is not None and any(other.created >= pod.ended for other in good)


def _is_near(case: Case, pod: PodRecord, runs_for: int | None) -> bool:
    due = pod.ended if pod.end is PodEnd.SUCCEEDED else None
    if due is None and pod.end is PodEnd.RUNS and pod.started is not None and runs_for is not None:
        due = pod.started + runs_for
    return due is not None and abs(due - case.record.lasts) <= case.tolerance


def survives(case: Case, expectation: Survives) -> Finding:
    """Judge whether no pod was lost or preempted, and none is missing."""
    pods = case.record.of_work(expectation.work)
    gone = taken(pods)
    absent, refusals = lacking(case, expectation.work)
    causes = Counter(pod.end_cause or pod.end.value for pod in gone)
    return Finding(
        expectation=f"{expectation.work} survives",
        is_met=bool(pods) and not gone and not absent,
        measured=joined(
            [
                f"{len(gone)} of {count(len(pods), 'pod')} lost" if pods else "no pod arrived",
                ", ".join(f"{n} by {cause}" for cause, n in causes.most_common(3)),
                absent_text(absent),
            ]
        ),
        pods=gone,
        refusals=refusals,
    )


def restarted(case: Case, expectation: Restarted) -> Finding:
    """Judge whether another pod of the unit ran in time for each lost pod."""
    record, bound = case.record, float(expectation.time)
    pods = record.of_work(expectation.work)
    gone = taken(pods)
    delays = restart_delays(pods, gone)
    bad = tuple(pod for pod in gone if delays[pod.uid] is None or (delays[pod.uid] or 0.0) > bound)
    known = [delay for delay in delays.values() if delay is not None]
    cut = sum(delays[pod.uid] is None and record.lasts - (pod.ended or 0.0) < bound for pod in bad)
    near = [delay for delay in known if abs(delay - bound) <= case.tolerance]
    longest = f"longest time to restart {duration_text(max(known))}" if known else ""
    return Finding(
        expectation=f"{expectation.work} is restarted within {duration_text(bound)}",
        is_met=bool(gone) and not bad,
        measured=joined(
            [
                f"{len(gone) - len(bad)} of {count(len(gone), 'lost pod')} restarted in time",
                longest,
                f"the scenario ends before the time of {cut} is up" if cut else "",
            ]
        )
        if gone
        else "no pod was lost",
        pods=bad,
        refusals=refused(record, expectation.work) if bad else (),
        may_vary=f"restarts within {duration_text(case.tolerance)} of the bound" if near else "",
    )


def restart_delays(pods: tuple[PodRecord, ...], gone: tuple[PodRecord, ...]) -> dict[str, float | None]:
    """Return the seconds from each loss until another pod of the unit ran in its place; None if none did."""
    claimed: set[str] = set()
    delays: dict[str, float | None] = {}
    by_unit: dict[str, list[PodRecord]] = {}
    for pod in pods:
        by_unit.setdefault(pod.unit, []).append(pod)
    for pod in gone:
        heirs = [
            other
            for other in by_unit[pod.unit]
            if other.started is not None
            and other.uid not in {*claimed, pod.uid}
            and (other.replaces == pod.uid or (other.replaces is None and other.created >= (pod.ended or 0.0)))
        ]
        heir = min(heirs, key=lambda other: (other.replaces != pod.uid, other.started or 0.0, other.name), default=None)
        delays[pod.uid] = None
        if heir is not None and heir.started is not None:
            claimed.add(heir.uid)
            delays[pod.uid] = max(0.0, heir.started - (pod.ended or 0.0))
    return delays


def refused_by_admission(case: Case, expectation: Refused) -> Finding:
    """Judge whether every unit was refused, for the reason that is named."""
    record, because = case.record, expectation.because
    units = record.units.get(expectation.work, ())
    admitted = record.of_work(expectation.work)
    with_pods = {pod.unit for pod in admitted}
    refusals = tuple(each for each in record.refusals if each.work == expectation.work)
    by_unit: dict[str, list[str]] = {}
    for each in refusals:
        by_unit.setdefault(each.unit, []).append(each.message)
    right = [u for u in units if u not in with_pods and any(because in text for text in by_unit.get(u, ()))]
    other = sum(u in by_unit and u not in right and u not in with_pods for u in units)
    return Finding(
        expectation=f"{expectation.work} is refused" + (f" because of {because}" if because else ""),
        is_met=bool(units) and len(right) == len(units),
        measured=joined(
            [
                f"{len(right)} of {count(len(units), 'unit')} refused" + (f" because of {because}" if because else ""),
                f"{other} refused for another reason" if other else "",
                f"{len(with_pods)} admitted" if with_pods else "",
            ]
        ),
        pods=admitted,
        refusals=refusals if other else (),
    )
