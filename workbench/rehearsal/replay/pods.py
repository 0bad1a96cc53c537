"""Reads dumps of pods: ``kubectl get pods -A -o json``."""

from collections.abc import Mapping
from typing import Any

from workbench.rehearsal.replay.envelopes import objects
from workbench.rehearsal.replay.kinds import origin_of
from workbench.rehearsal.replay.observed import End, History, LeftOut, Observed
from workbench.rehearsal.replay.part import moment_of
from workbench.rehearsal.replay.problems import ReplayError
from workbench.rehearsal.replay.shapes import shape_of
from workbench.rehearsal.replay.statuses import apply_status
from workbench.rehearsal.replay.stream import Source


def is_pod(value: Mapping[str, Any]) -> bool:
    """Return whether an entry is a pod; items of lists may lack their kind."""
    kind = value.get("kind")
    return kind == "Pod" or (kind is None and isinstance((value.get("spec") or {}), dict)
                             and "containers" in (value.get("spec") or {}))  # fmt: skip


def read(source: Source, history: History) -> None:
    """Add the pods of a dump.

    Raises
    ------
    ReplayError
        An entry is not a pod, or lacks what every pod has.
    """
    history.has_steady_pods = True
    history.notes.append("A dump of pods shows those that still exist: what was deleted before it is missing.")
    problem, hint = "an object that is not a pod, in a dump of pods.", "Export pods alone: kubectl get pods -A -o json."
    for line, pod in objects(source, is_pod, problem, hint):
        _add(source, line, pod, history)


def _add(source: Source, line: int, pod: Mapping[str, Any], history: History) -> None:
    metadata, spec, status = (pod.get(name) or {} for name in ("metadata", "spec", "status"))
    created = moment_of(metadata.get("creationTimestamp"))
    if created is None or not spec:
        raise ReplayError(
            source.path, "a pod without creationTimestamp or spec.", "Export it whole: kubectl get pods -A -o json.",
            line=line)  # fmt: skip
    namespace = str(metadata.get("namespace", ""))
    origin = origin_of(metadata, namespace)
    if isinstance(origin, LeftOut):
        history.left_out[origin] += 1
        return
    observed = Observed(origin=origin, shape=shape_of(metadata, spec, history.counts), created=created)
    apply_status(observed, status, None)
    deleted = moment_of(metadata.get("deletionTimestamp"))
    if deleted is not None:
        observed.ends(deleted, End.DELETED)
    for at in (created, observed.scheduled, observed.started, observed.ended):
        if at is not None:
            history.saw(at)
    history.add(metadata.get("uid") or (namespace, metadata.get("name"), created), observed)
