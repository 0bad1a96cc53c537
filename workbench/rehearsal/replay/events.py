"""Reads exports of events: ``kubectl get events -A -o json``, also with ``-w``, of core/v1 and events.k8s.io/v1.

Fields are those of ``Event`` in kubernetes/kubernetes, ``staging/src/k8s.io/api/core/v1/types.go`` and
``staging/src/k8s.io/api/events/v1/types.go``. Owners of pods are in events of controllers: ``SuccessfulCreate`` with
``Created pod: NAME`` (``pkg/controller/controller_utils.go``) or ``create Pod NAME in StatefulSet ...``
(``pkg/controller/statefulset/stateful_pod_control.go``), ends of Jobs in ``Completed``
(``pkg/controller/job/job_controller.go``).
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from workbench.rehearsal.replay.envelopes import objects
from workbench.rehearsal.replay.kinds import origin_of
from workbench.rehearsal.replay.observed import TRACKED_MAX, End, History, LeftOut, Observed, Shape, too_many
from workbench.rehearsal.replay.part import moment_of
from workbench.rehearsal.replay.problems import ReplayError
from workbench.rehearsal.replay.stream import Source
from workbench.rehearsal.scenario.work import WorkKind

NO_SIZES: Final = (
    "Events have no sizes, selectors and labels: every pod gets the stack's default requests and no selector; write "
    "the scenario to a file to set them."
)
_BEGINNINGS: Final = ("Scheduled", "FailedScheduling", "TriggeredScaleUp", "NotTriggerScaleUp")
"""Reasons that only new pods have."""
_ENDINGS: Final = ("Killing", "Preempted", "Evicted", "TaintManagerEviction")
_CREATED: Final = re.compile(r"(?:Created pod:|create Pod) ([a-z0-9.-]+)")
_OF_REPLICA_SET: Final = re.compile(r".+-[a-f0-9]{8,10}-[a-z0-9]{5}")


@dataclass(slots=True)
class _Seen:
    """Moments of one pod."""

    first: float
    is_new: bool = False
    scheduled: float | None = None
    started: float | None = None
    killed: float | None = None


@dataclass
class _Export:
    """What all events show together; they are in no particular order."""

    pods: dict[tuple[str, str, str], _Seen] = field(default_factory=dict)
    owners: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    completed: dict[tuple[str, str], float] = field(default_factory=dict)
    scale_ups: Counter[str] = field(default_factory=Counter)


def is_event(value: Mapping[str, Any]) -> bool:
    """Return whether an entry is an event; items of lists may lack their kind."""
    return value.get("kind", "Event") == "Event" and any(name in value for name in ("involvedObject", "regarding"))


def read(source: Source, history: History) -> None:
    """Add the pods that events are about.

    Raises
    ------
    ReplayError
        An entry is not an event, or has no time.
    """
    export = _Export()
    problem = "an object that is not an event, in an export of events."
    for line, event in objects(source, is_event, problem, "Export events alone: kubectl get events -A -o json."):
        at = _first(event)
        if at is None:
            raise ReplayError(source.path, "an event without a time.", "Export it whole.", line=line)
        history.saw(at)
        _take(event, at, export)
    history.notes += [NO_SIZES, "A cluster keeps events for an hour by default: pods without an event are missing."]
    if export.scale_ups:
        history.counts["Pods for which the autoscaler added nodes there"] = len(export.scale_ups)
    _add_all(export, history)


def _first(event: Mapping[str, Any]) -> float | None:
    for name in ("firstTimestamp", "deprecatedFirstTimestamp", "eventTime"):
        if (at := moment_of(event.get(name))) is not None:
            return at
    return moment_of((event.get("metadata") or {}).get("creationTimestamp"))


def _take(event: Mapping[str, Any], at: float, export: _Export) -> None:
    about = event.get("involvedObject") or event.get("regarding") or {}
    namespace, name, kind = (str(about.get(key, "")) for key in ("namespace", "name", "kind"))
    reason = str(event.get("reason", ""))
    if kind == "Pod":
        _take_pod((namespace, name, str(about.get("uid", ""))), reason, at, export)
    elif reason == "SuccessfulCreate":
        if match := _CREATED.search(str(event.get("message") or event.get("note") or "")):
            export.owners[namespace, match[1]] = (kind, name)
    elif kind == "Job" and reason == "Completed":
        export.completed[namespace, name] = at
    if len(export.pods) > TRACKED_MAX:
        raise too_many()


def _take_pod(key: tuple[str, str, str], reason: str, at: float, export: _Export) -> None:
    pod = export.pods.setdefault(key, _Seen(at))
    pod.first = min(pod.first, at)
    pod.is_new = pod.is_new or reason in _BEGINNINGS
    if reason == "Scheduled":
        pod.scheduled = at if pod.scheduled is None else min(pod.scheduled, at)
    elif reason == "Started":
        pod.started = at if pod.started is None else min(pod.started, at)
    elif reason in _ENDINGS:
        pod.killed = at if pod.killed is None else min(pod.killed, at)
    elif reason == "TriggeredScaleUp":
        export.scale_ups["/".join(key)] += 1


def _add_all(export: _Export, history: History) -> None:
    for (namespace, name, uid), seen in export.pods.items():
        owner, owner_name = export.owners.get((namespace, name), ("", ""))
        if not owner and _OF_REPLICA_SET.fullmatch(name):
            owner = "ReplicaSet"
        owners = [{"kind": owner, "name": owner_name, "controller": True}] if owner else []
        origin = origin_of({"ownerReferences": owners}, namespace)
        if isinstance(origin, LeftOut):
            history.left_out[origin] += 1
            continue
        created = seen.first if seen.is_new else history.first if history.first is not None else seen.first
        pod = Observed(origin=origin, shape=Shape(), created=created, scheduled=seen.scheduled, started=seen.started)
        pod.is_new = seen.is_new
        if not seen.is_new:
            history.counts["Pods from before the first event (they run from the start)"] += 1
        done = export.completed.get((namespace, owner_name))
        if origin.kind is WorkKind.BATCH_JOB and done is not None and seen.killed is None:
            pod.ends(done, End.COMPLETED)
        elif seen.killed is not None:
            pod.ends(seen.killed, End.DELETED)
        history.add((namespace, name, uid), pod)
