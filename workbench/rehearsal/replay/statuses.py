"""Reads a pod's status: when it was placed, ran and ended."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from workbench.rehearsal.replay.observed import End, Observed
from workbench.rehearsal.replay.part import moment_of
from workbench.rehearsal.scenario.work import WorkKind

_ENDS: Final = {"Succeeded": End.COMPLETED, "Failed": End.FAILED}
SERVICES: Final = (WorkKind.SERVICE, WorkKind.NUCLIO_FUNCTION, WorkKind.NOTEBOOK)
"""Kinds that do not end by themselves: a pod of theirs that ended was evicted or lost."""


def apply_status(pod: Observed, status: Mapping[str, Any], at: float | None) -> None:
    """Note what a status, or a patch of one, says.

    Parameters
    ----------
    pod
        Receives it.
    status
        The status.
    at
        When it was written; None if only the status itself says when things happened.
    """
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "True" and pod.scheduled is None:
            pod.scheduled = moment_of(condition.get("lastTransitionTime")) or at
    containers = status.get("containerStatuses") or ()
    started = _moments(containers, ("running", "terminated"), "startedAt")
    if pod.started is None and (started or status.get("phase") == "Running"):
        pod.started = min(started, default=at)
    end = _ENDS.get(str(status.get("phase")))
    if end:
        finished = max(_moments(containers, ("terminated",), "finishedAt"), default=at)
        if finished is not None:
            pod.ends(finished, End.DELETED if pod.origin.kind in SERVICES else end)


def _moments(containers: Iterable[Mapping[str, Any]], states: tuple[str, ...], key: str) -> list[float]:
    found = (
        moment_of(((each.get("state") or {}).get(state) or {}).get(key)) for each in containers for state in states
    )
    return [moment for moment in found if moment is not None]
