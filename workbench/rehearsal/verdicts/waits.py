"""Judges how long pods waited: ``waits-at-most``."""

import math

from workbench.rehearsal.record import PodRecord, Record
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.expectations import WaitsAtMost
from workbench.rehearsal.verdicts.finding import Case, Finding, joined, lacking, share_is
from workbench.report.words import count


def wait_of(pod: PodRecord, lasts: float) -> float:
    """Return the seconds until a pod ran, or until it or the record ended if it never did."""
    until = pod.started if pod.started is not None else pod.ended if pod.ended is not None else lasts
    return max(0.0, until - pod.created)


def waits_at_most(case: Case, expectation: WaitsAtMost) -> Finding:
    """Judge whether a share of the pods ran in time; a unit without a pod waits forever."""
    record, bound, percent = case.record, float(expectation.time), expectation.percent
    pods = record.of_work(expectation.work)
    waits = {pod.uid: wait_of(pod, record.lasts) for pod in pods}
    late = tuple(sorted((pod for pod in pods if waits[pod.uid] > bound), key=lambda pod: (-waits[pod.uid], pod.name)))
    absent, refusals = lacking(record, expectation.work)
    total = len(pods) + len(absent)
    is_met = share_is(len(pods) - len(late), total, percent)
    text = f"{expectation.work} waits at most {duration_text(bound)}"
    return Finding(
        expectation=text if percent == 100 else f"{text} ({percent:g} % of its pods)",  # noqa: PLR2004 all of them
        is_met=is_met,
        measured=_measured(record, pods, [*waits.values()], late, len(absent)),
        pods=() if is_met else late,
        refusals=() if is_met else refusals,
        may_vary=_may_vary(case, expectation, [*waits.values()], total) or _order(late, pods),
    )


def _measured(
    record: Record, pods: tuple[PodRecord, ...], waits: list[float], late: tuple[PodRecord, ...], absent: int
) -> str:
    if not pods:
        return f"no pod; {absent} refused or never created" if absent else "no pod arrived"
    still = sum(pod.started is None and (pod.ended is None or pod.ended >= record.lasts) for pod in pods)
    return joined(
        [
            (
                f"{len(pods) - len(late)} of {count(len(pods) + absent, 'pod')} in time, longest wait "
                f"{duration_text(max(waits))}, 95th percentile {duration_text(percentile(waits, 95))}"
            ),
            f"{still} still waiting at the end" if still else "",
            f"{absent} refused or never created" if absent else "",
        ]
    )


def percentile(values: list[float], percent: float) -> float:
    """Return the smallest of the values that at least ``percent`` of them do not exceed; 0 without values."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)] if ordered else 0.0


def _may_vary(case: Case, expectation: WaitsAtMost, waits: list[float], total: int) -> str:
    """Return that the verdict may differ, if waits near the bound decide it."""
    verdicts = {
        share_is(sum(wait <= expectation.time + shift for wait in waits), total, expectation.percent)
        for shift in (-case.tolerance, 0.0, case.tolerance)
    }
    if len(verdicts) == 1:
        return ""
    span = duration_text(case.tolerance)
    return f"waits within {span} of the bound decide it, and the autoscaler's next look may come {span} sooner or later"


def _order(late: tuple[PodRecord, ...], pods: tuple[PodRecord, ...]) -> str:
    """Return that other pods may wait, if pods that are created at once share what room there is."""
    moments = {pod.created for pod in late}
    names = {pod.uid for pod in late}
    shared = any(pod.created in moments and pod.uid not in names for pod in pods)
    return "which of the pods created at the same moment wait; not how many" if shared else ""
