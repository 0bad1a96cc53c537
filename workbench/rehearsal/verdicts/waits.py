"""Judges how long pods waited: ``waits-at-most`` and ``never-runs``."""

import math

from workbench.rehearsal.record import PodRecord, Record
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.expectations import NeverRuns, WaitsAtMost
from workbench.rehearsal.verdicts.finding import Case, Finding, absent_text, joined, lacking, share_is
from workbench.report.words import count


def wait_of(pod: PodRecord, lasts: float) -> float:
    """Return the seconds until a pod ran, or until it or the record ended if it never did."""
    until = pod.started if pod.started is not None else pod.ended if pod.ended is not None else lasts
    return max(0.0, until - pod.created)


def waits_at_most(case: Case, expectation: WaitsAtMost) -> Finding:
    """Judge whether a share of the pods ran in time; a unit without a pod waits forever."""
    record, bound, percent = case.record, float(expectation.time), expectation.percent
    pods = record.of_work(expectation.work)
    late, undecided = _sorted_out(case, pods, bound)
    absent, refusals = lacking(case, expectation.work)
    is_met = _is_met(case, pods, bound, absent, percent)
    text = f"{expectation.work} waits at most {duration_text(bound)}"
    return Finding(
        expectation=text if percent == 100 else f"{text} ({percent:g} % of its pods)",  # noqa: PLR2004 all of them
        is_met=is_met,
        measured=_measured(record, pods, len(late), len(undecided), absent),
        pods=() if is_met else late or undecided,
        refusals=() if is_met else refusals,
        may_vary=_may_vary(case, pods, bound, absent, percent) or _order(late, pods),
    )


def _sorted_out(case: Case, pods: tuple[PodRecord, ...], bound: float) -> tuple[tuple[PodRecord, ...], ...]:
    """Return the pods that are late, the longest waits first, and those that had too little time to be judged.

    A pod that ended without having run is late, unless it ended sooner than it can start at this speed.
    """
    late: list[PodRecord] = []
    undecided: list[PodRecord] = []
    waits = {pod.uid: wait_of(pod, case.record.lasts) for pod in pods}
    for pod in sorted(pods, key=lambda pod: (-waits[pod.uid], pod.name)):
        enough = bound if pod.ended is None else min(bound, case.tolerance)
        if pod.started is None:
            (undecided if waits[pod.uid] < enough else late).append(pod)
        elif waits[pod.uid] > bound:
            late.append(pod)
    return tuple(late), tuple(undecided)


def _is_met(case: Case, pods: tuple[PodRecord, ...], bound: float, absent: int, percent: float) -> bool:
    late, undecided = _sorted_out(case, pods, bound)
    decided = len(pods) - len(undecided)
    return share_is(decided - len(late), decided + absent, percent)


def _measured(record: Record, pods: tuple[PodRecord, ...], late: int, undecided: int, absent: int) -> str:
    if not pods:
        return f"no pod; {absent_text(absent)}" if absent else "no pod arrived"
    waits = [wait_of(pod, record.lasts) for pod in pods]
    still = sum(pod.started is None and pod.ended is None for pod in pods)
    decided = len(pods) - undecided
    return joined(
        [
            (
                f"{decided - late} of {count(decided + absent, 'pod')} in time, longest wait "
                f"{duration_text(max(waits))}, 95th percentile {duration_text(percentile(waits, 95))}"
            ),
            f"{still} still waiting at the end" if still else "",
            f"{undecided} left out: too little time to judge" if undecided else "",
            absent_text(absent),
        ]
    )


def never_runs(case: Case, expectation: NeverRuns) -> Finding:
    """Judge whether every unit has pods, none of them ran, and the named reason was reported for each."""
    work, because = expectation.work, expectation.because
    pods = case.record.of_work(work)
    ran = tuple(pod for pod in pods if pod.started is not None)
    unsaid = tuple(
        pod
        for pod in pods
        if pod.started is None and because and not any(because in reason.text for reason in pod.reasons)
    )
    absent, refusals = lacking(case, work)
    text = f" because of {because}" if because else ""
    return Finding(
        expectation=f"{work} never runs{text}",
        is_met=bool(pods) and not (ran or unsaid or absent),
        measured=joined(
            [
                f"{len(ran)} of {count(len(pods), 'pod')} ran" if pods else "no pod arrived",
                f"of {len(unsaid)} that waited, another reason was said or none" if unsaid else "",
                absent_text(absent),
            ]
        ),
        pods=(*ran, *unsaid),
        refusals=refusals,
    )


def percentile(values: list[float], percent: float) -> float:
    """Return the smallest of the values that at least ``percent`` of them do not exceed; 0 without values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)] if ordered else 0.0


def _may_vary(case: Case, pods: tuple[PodRecord, ...], bound: float, absent: int, percent: float) -> str:
    """Return why the verdict may differ between runs, if waits near the bound decide it; else empty."""
    shifts = (-case.tolerance, 0.0, case.tolerance)
    if len({_is_met(case, pods, bound + shift, absent, percent) for shift in shifts}) == 1:
        return ""
    span = duration_text(case.tolerance)
    return f"waits within {span} of the bound decide it, and the autoscaler's next scan may come {span} sooner or later"


def _order(late: tuple[PodRecord, ...], pods: tuple[PodRecord, ...]) -> str:
    """Return that other pods may wait, if pods created at the same moment compete for room; else empty."""
    moments = {pod.created for pod in late}
    names = {pod.uid for pod in late}
    shared = any(pod.created in moments and pod.uid not in names for pod in pods)
    return "which of the pods created at the same moment wait; not how many" if shared else ""
