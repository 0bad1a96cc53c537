"""Judges whether the running pods of a work can handle its traffic: ``keeps-up``."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from components.contract.quantities import parse_quantity
from workbench.rehearsal.amounts import cpu_limit
from workbench.rehearsal.record import PodRecord
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.events import Load
from workbench.rehearsal.scenario.expectations import KeepsUp
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.verdicts.finding import Case, Finding, absent_text, joined, lacking
from workbench.report.words import count


@dataclass(frozen=True, kw_only=True)
class Shortage:
    """A time for which the pods of a unit could not handle its traffic.

    Parameters
    ----------
    unit
        The unit.
    start, end
        Its moments, in seconds of the scenario.
    needed, offered
        Cores that the traffic needed and that the limits of the running pods allowed, when the most were missing.
    running
        Pods that ran then.
    """

    unit: str
    start: float
    end: float
    needed: float
    offered: float
    running: int

    @property
    def lasts(self) -> float:
        """Its length in seconds."""
        return self.end - self.start


def keeps_up(case: Case, expectation: KeepsUp) -> Finding:
    """Judge whether no shortage of CPU lasts longer than the time; the scenario's end also ends a shortage."""
    work, bound = expectation.work, float(expectation.time)
    pods = case.record.of_work(work)
    short = shortages(case, work)
    bad = [each for each in short if each.lasts > bound]
    absent, refusals = lacking(case, work)
    longest = max(short, key=lambda each: each.lasts, default=None)
    near = any(abs(each.lasts - bound) <= case.tolerance for each in short)
    return Finding(
        expectation=f"{work} keeps up with its traffic within {duration_text(bound)}",
        is_met=bool(pods) and not bad,
        measured=joined([_text(longest) if pods else "no pod arrived", absent_text(absent)]),
        pods=tuple(pod for pod in pods if any(_waits_in(pod, each) for each in bad)),
        refusals=refusals if bad or not pods else (),
        may_vary=f"a shortage ends within {duration_text(case.tolerance)} of the bound" if near else "",
    )


def _text(longest: Shortage | None) -> str:
    if longest is None:
        return "never short of CPU"
    return (
        f"{longest.unit} short of CPU for {duration_text(longest.lasts)}: its traffic needed {longest.needed:g} CPU, "
        f"{count(longest.running, 'running pod')} could use {longest.offered:g}"
    )


def _waits_in(pod: PodRecord, shortage: Shortage) -> bool:
    """Return whether a pod of the unit waited when a shortage ended."""
    is_there = pod.created < shortage.end and (pod.ended is None or pod.ended >= shortage.end)
    return pod.unit == shortage.unit and is_there and (pod.started is None or pod.started >= shortage.end)


def shortages(case: Case, work: str) -> tuple[Shortage, ...]:
    """Return all shortages of the units of a work, in the order of the units."""
    needs = sorted((float(event.at), float(parse_quantity(event.cpu))) for event in _loads(case.scenario, work))
    pods = case.record.of_work(work)
    found: list[Shortage] = []
    for unit, (arrives, leaves) in zip(case.record.units.get(work, ()), _lives(case, work), strict=False):
        own = [pod for pod in pods if pod.unit == unit]
        found += _of_unit(unit, own, [(at, cpu) for at, cpu in needs if at < leaves], max(arrives, 0.0), leaves)
    return tuple(found)


def _loads(scenario: Scenario, work: str) -> Iterator[Load]:
    return (event for event in scenario.events if isinstance(event, Load) and event.work == work)


def _lives(case: Case, work: str) -> Iterator[tuple[float, float]]:
    """Yield when each unit of a work arrives and leaves, in the order of the units."""
    for arrival in case.scenario.arrivals:
        if arrival.work == work:
            for moment in arrival.moments:
                leaves = moment + arrival.stays if arrival.stays else case.record.lasts
                yield float(moment), min(float(leaves), case.record.lasts)


def _of_unit(
    unit: str, pods: list[PodRecord], needs: list[tuple[float, float]], arrives: float, leaves: float
) -> Iterator[Shortage]:
    """Yield the shortages of a unit: from each change to the next, what is needed and what is offered are constant."""
    moments = {arrives, leaves, *(at for at, _ in needs)}
    moments |= {at for pod in pods for at in (pod.started, pod.ended) if at is not None}
    current: Shortage | None = None
    for start, end in pairwise(sorted(at for at in moments if arrives <= at <= leaves)):
        needed = next((cpu for at, cpu in reversed(needs) if at <= start), 0.0)
        running = [pod for pod in pods if _runs_at(pod, start)]
        offered = float(sum(cpu_limit(pod.spec) for pod in running))
        if needed <= offered:
            if current:
                yield current
            current = None
            continue
        worst = (needed, offered, len(running))
        if current and current.needed - current.offered >= needed - offered:
            worst = (current.needed, current.offered, current.running)
        current = Shortage(unit=unit, start=current.start if current else start, end=end, needed=worst[0],
                           offered=worst[1], running=worst[2])  # fmt: skip
    if current:
        yield current


def _runs_at(pod: PodRecord, moment: float) -> bool:
    return pod.started is not None and pod.started <= moment and (pod.ended is None or pod.ended > moment)
