"""Judges a record against the expectations of its scenario.

Every verdict is read from the record only: when pods ran, on which nodes, how they ended, what the API server refused.
Hints, which explain a miss, may compare pods with the stack's groups as well.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from infra.config import StackConfig
from workbench.rehearsal.outcome import Costs
from workbench.rehearsal.record import PodRecord, Record, Refusal
from workbench.rehearsal.scenario.expectations import (
    AtMost,
    Completes,
    CoreServicesUnmoved,
    Expectation,
    KeepsUp,
    LandsOn,
    MinimumAgain,
    NeverOn,
    NeverRuns,
    Refused,
    Restarted,
    Survives,
    WaitsAtMost,
)
from workbench.rehearsal.scenario.model import Scenario
from workbench.rehearsal.verdicts import endings, nodes, places, traffic, waits
from workbench.rehearsal.verdicts.finding import Case, Finding, joined, unmoved
from workbench.rehearsal.verdicts.hints import Miss, hints_for
from workbench.rehearsal.verdicts.verdict import Verdict

PODS_SHOWN: Final = 5
"""Pods that a verdict names."""

_Judge = Callable[[Case, Any], Finding]
_JUDGES: Final[dict[type[Any], _Judge]] = {
    LandsOn: places.lands_on,
    NeverOn: places.never_on,
    WaitsAtMost: waits.waits_at_most,
    Completes: endings.completes,
    Survives: endings.survives,
    Restarted: endings.restarted,
    KeepsUp: traffic.keeps_up,
    NeverRuns: waits.never_runs,
    Refused: endings.refused_by_admission,
    MinimumAgain: nodes.minimum_again,
    CoreServicesUnmoved: places.core_services_unmoved,
    AtMost: nodes.at_most,
}


def judge(scenario: Scenario, record: Record, config: StackConfig, costs: Costs | None) -> tuple[Verdict, ...]:
    """Return the verdict of each expectation, in their order.

    Parameters
    ----------
    scenario
        What was expected.
    record
        What happened.
    config
        The stack's choices, for hints.
    costs
        What the nodes cost; None misses bounds in US dollars.
    """
    case = Case(scenario=scenario, record=record, config=config, costs=costs)
    return tuple(_verdict(case, number, expectation) for number, expectation in enumerate(scenario.expectations))


def misses(scenario: Scenario, record: Record, config: StackConfig, costs: Costs | None) -> tuple[Miss, ...]:
    """Return the expectations that the record misses, with the pods, refusals and nodes that miss them."""
    case = Case(scenario=scenario, record=record, config=config, costs=costs)
    judged = (_judged(case, expectation) for expectation in scenario.expectations)
    return tuple(miss for miss in judged if not miss.finding.is_met)


def _judged(case: Case, expectation: Expectation) -> Miss:
    return Miss(case=case, expectation=expectation, finding=_JUDGES[type(expectation)](case, expectation))


def _may_vary(miss: Miss) -> str:
    """Return what timing may change, such as whether the autoscaler empties a node and so moves pods."""
    case = replace(miss.case, record=unmoved(miss.record))
    is_decided = _judged(case, miss.expectation).finding.is_met is miss.finding.is_met
    moves = "" if is_decided else "whether the autoscaler moves pods: had it moved none, the verdict would differ"
    return joined([miss.finding.may_vary, moves])


def _verdict(case: Case, number: int, expectation: Expectation) -> Verdict:
    miss = _judged(case, expectation)
    found = miss.finding
    return Verdict(
        number=number,
        expectation=found.expectation,
        is_met=found.is_met,
        measured=found.measured,
        pods=() if found.is_met else tuple(pod.name for pod in found.pods[:PODS_SHOWN]),
        reason="" if found.is_met else reason_of(found.pods, found.refusals),
        hints=() if found.is_met else hints_for(miss),
        may_vary=_may_vary(miss),
    )


def reason_of(pods: tuple[PodRecord, ...], refusals: tuple[Refusal, ...]) -> str:
    """Return what the API server, scheduler and autoscaler said: the first refusal, else of the first pod with reasons.

    The last message of each component counts, since it describes the final state; for a lost pod, the cause counts.
    """
    if refusals:
        return refusals[0].message
    for pod in pods:
        last = {reason.component: reason.text for reason in pod.reasons}
        if last:
            return "; ".join(f"{component}: {text}" for component, text in last.items())
    return next((pod.end_cause for pod in pods if pod.end_cause), "")
