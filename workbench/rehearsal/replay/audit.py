"""Reads audit logs of the API server.

Fields are those of ``Event`` in kubernetes/kubernetes, ``staging/src/k8s.io/apiserver/pkg/apis/audit/v1/types.go``.
With the policy that Kubernetes' own scripts write (``cluster/gce/gci/configure-helper.sh``) and EKS extends, creations
of pods are logged with request and response, and status patches of nodes with the request.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from workbench.rehearsal.replay.envelopes import AUDIT, unwrap
from workbench.rehearsal.replay.kinds import origin_of
from workbench.rehearsal.replay.observed import End, History, LeftOut, Observed
from workbench.rehearsal.replay.part import moment_of
from workbench.rehearsal.replay.problems import ReplayError
from workbench.rehearsal.replay.shapes import shape_of
from workbench.rehearsal.replay.statuses import apply_status
from workbench.rehearsal.replay.stream import Source

_WANTED: Final = re.compile(rb'[vV]erb\\*"\s*:\s*\\*"(?:create|delete|patch|update)\\*"')
_REFUSED: Final = 300


def is_audit(value: Mapping[str, Any]) -> bool:
    """Return whether an entry is an audit event."""
    return str(value.get("apiVersion", "")).startswith(AUDIT)


def keep(line: bytes) -> bool:
    """Return whether a line may be about the life of a pod, without decoding it."""
    return b"pods" in line and _WANTED.search(line) is not None


def read(source: Source, history: History) -> None:
    """Add the pods of an audit log.

    Raises
    ------
    ReplayError
        A part is damaged, or the log has no specs of pods.
    """
    history.notes.append("Pods from before the log's first entry are missing: it has no specs of them.")
    for line, event in _events(source):
        at = moment_of(event.get("requestReceivedTimestamp")) or moment_of(event.get("stageTimestamp"))
        if at is None:
            raise ReplayError(
                source.path, "an audit event without requestReceivedTimestamp.", "Give the events whole.", line=line
            )
        history.saw(at)
        _take(event, at, history)
    if not any(True for _ in history) and history.left_out[LeftOut.NO_SPEC]:
        raise ReplayError(
            source.path,
            f"the log has {history.left_out[LeftOut.NO_SPEC]} creations of pods, all without the pod.",
            "Log pods at level RequestResponse or Request; at level Metadata there are no specs.",
        )


def _events(source: Source) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for entry in source.entries(keep):
        for event in unwrap(entry.value):
            reference = event.get("objectRef")
            is_pod = (
                isinstance(reference, dict) and reference.get("resource") == "pods" and not reference.get("apiGroup")
            )
            if is_pod and is_audit(event) and event.get("stage", "ResponseComplete") == "ResponseComplete":
                code = (event.get("responseStatus") or {}).get("code", 200)
                if isinstance(code, int) and code < _REFUSED:
                    yield entry.line, event


def _take(event: Mapping[str, Any], at: float, history: History) -> None:
    reference, verb = event["objectRef"], event.get("verb")
    part = reference.get("subresource", "")
    sent, answer = (_object(event.get(name)) for name in ("requestObject", "responseObject"))
    namespace = str(reference.get("namespace", ""))
    if verb == "create" and not part:
        _create(answer if "spec" in answer else sent, reference, at, history)
        return
    key = (namespace, str(reference.get("name", "")))
    pod = history.find(key)
    if not pod:
        return
    if verb == "create" and part == "binding":
        pod.scheduled = at if pod.scheduled is None else pod.scheduled
    elif (verb == "create" and part == "eviction") or (verb == "delete" and not part):
        pod.ends(at, End.DELETED)
    elif verb in {"patch", "update"} and part == "status":
        for each in (sent, answer):
            apply_status(pod, each.get("status") or {}, at)


def _create(pod: Mapping[str, Any], reference: Mapping[str, Any], at: float, history: History) -> None:
    metadata = pod.get("metadata") or {}
    namespace = str(reference.get("namespace") or metadata.get("namespace") or "")
    origin = origin_of(metadata, namespace)
    if isinstance(origin, LeftOut):
        history.left_out[origin] += 1
        return
    spec = pod.get("spec")
    name = str(metadata.get("name") or reference.get("name") or "")
    if not isinstance(spec, dict) or not name:
        history.left_out[LeftOut.NO_SPEC] += 1
        return
    observed = Observed(origin=origin, shape=shape_of(metadata, spec, history.counts), created=at)
    history.add((namespace, name), observed)


def _object(value: Any) -> Mapping[str, Any]:
    """Return an object; empty for other values, such as ``skipped-too-big-size-object`` and JSON patches."""
    return value if isinstance(value, dict) else {}
