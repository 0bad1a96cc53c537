"""Hints about work that does not keep up with its traffic: too few replicas allowed, or too late."""

import math
from collections.abc import Iterator
from typing import Final

from workbench.rehearsal.amounts import cpu_limit, most_at_once
from workbench.rehearsal.record import PodRecord
from workbench.rehearsal.scenario.durations import duration_text
from workbench.rehearsal.scenario.expectations import KeepsUp
from workbench.rehearsal.scenario.work import REPLICAS_MAX
from workbench.rehearsal.verdicts.miss import Finders, Miss
from workbench.rehearsal.verdicts.traffic import Shortage, shortages
from workbench.rehearsal.verdicts.verdict import Hint
from workbench.report.words import count

_TOLERANCE: Final = 0.1
"""Share of the target by which utilization must exceed it: the default of ``--horizontal-pod-autoscaler-tolerance``
(kubernetes v1.36.3, ``pkg/controller/podautoscaler/config/v1alpha1/defaults.go``)."""


def at_maximum(miss: Miss) -> Iterator[Hint]:
    """Recognise that the HorizontalPodAutoscaler had reached its maximum of replicas."""
    work, short, need = miss.work, _worst(miss), replicas_needed(miss)
    if short is None or work is None or work.scales is None or not need:
        return
    is_possible = need <= REPLICAS_MAX
    yield Hint(
        cause=f"{short.unit} had its maximum of {count(work.scales.max, 'replica')}; its traffic needed "
        f"{short.needed:g} CPU, and a pod can use {_use_of_pod(miss, short):g}.",
        action=f"Raise scales.max to at least {need}." if is_possible else "Raise cpu: a pod then takes more of it.",
        path=f"works.{miss.work_name}.{'scales.max' if is_possible else 'cpu'}",
    )


def replicas_needed(miss: Miss) -> int:
    """Return how many replicas would handle the traffic of a unit that had its maximum; 0 if more would not help."""
    work, short = miss.work, _worst(miss)
    if short is None or work is None or work.scales is None:
        return 0
    pods = [pod for pod in miss.record.of_work(miss.work_name) if pod.unit == short.unit]
    use = _use_of_pod(miss, short)
    need = math.ceil(short.needed / use) if use else 0
    had = _replicas(pods, short, miss.record.lasts)
    return need if had >= work.scales.max < need else 0


def _use_of_pod(miss: Miss, short: Shortage) -> float:
    """Return the cores that a pod of a unit can use; 0 without a pod."""
    pods = (pod for pod in miss.record.of_work(miss.work_name) if pod.unit == short.unit)
    return min((float(cpu_limit(pod.spec)) for pod in pods), default=0.0)


def out_of_reach(miss: Miss) -> Iterator[Hint]:
    """Recognise that even pods at their limit use too little, compared with the target, for replicas to be added."""
    if _worst(miss) is None:
        return
    target = miss.work.target_utilization if miss.work else 0
    for pod in miss.record.of_work(miss.work_name)[:1]:
        highest = 100_000 * float(cpu_limit(pod.spec)) / max(1, pod.cpu_millis)
        if highest <= target * (1 + _TOLERANCE):
            yield Hint(
                cause=f"A pod of {miss.work_name} uses at most {highest:.0f} % of its request, its limit; replicas are "
                f"added only above {target * (1 + _TOLERANCE):.0f} %, the target of {target} % and a tenth of it.",
                action="Lower scales.cpuUtilization, or set a cpuLimit above cpu.",
                path=f"works.{miss.work_name}.scales.cpuUtilization",
            )


def late(miss: Miss) -> Iterator[Hint]:
    """Recognise that enough replicas are allowed, but came too late."""
    work, short = miss.work, _worst(miss)
    if short is None or work is None or any([*at_maximum(miss), *out_of_reach(miss)]):
        return
    yield Hint(
        cause=f"The HorizontalPodAutoscaler of {short.unit} adds replicas step by step, since pods at their limits "
        f"hide what is missing, and waits for their nodes in between: with {count(short.running, 'running pod')} at "
        f"first, it took {duration_text(short.lasts)}.",
        action="Raise scales.min, lower scales.cpuUtilization, set a cpuLimit above cpu, or allow a longer time.",
        path=f"works.{miss.work_name}.scales.min",
    )


def _worst(miss: Miss) -> Shortage | None:
    """Return the longest shortage of a missed ``keeps-up``."""
    if not isinstance(miss.expectation, KeepsUp):
        return None
    return max(shortages(miss.case, miss.work_name), key=lambda each: each.lasts, default=None)


def _replicas(pods: list[PodRecord], short: Shortage, lasts: float) -> float:
    """Return the most pods of a unit that existed at one moment of a shortage."""
    spans = ((max(pod.created, short.start), min(pod.ended or lasts, short.end)) for pod in pods)
    return most_at_once((start, end, 1.0) for start, end in spans if start < end)


FINDERS: Final[Finders] = (out_of_reach, at_maximum, late)
