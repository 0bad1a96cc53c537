"""Entries of audit logs, dumps, events and runs, as clusters and MLRun write them."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Json = dict[str, Any]

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
SECRET = "hunter2-do-not-show"  # noqa: S105
"""Value of every field that must never be shown."""

KUBELET = {"username": "system:node:ip-10-0-1-7", "groups": ["system:nodes"]}


def at(seconds: float) -> str:
    """A time so many seconds after the start."""
    return f"{START + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S.%fZ}"


def pod(
    name: str,
    namespace: str = "vision",
    *,
    owner: str = "",
    cpu: str = "1",
    memory: str = "2Gi",
    gpus: int = 0,
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> Json:
    resources = {"cpu": cpu, "memory": memory, **({"nvidia.com/gpu": str(gpus)} if gpus else {})}
    container = {
        "name": "base",
        "image": f"registry.example.invalid/{SECRET}",
        "command": ["run", SECRET],
        "args": [SECRET],
        "env": [{"name": "TOKEN", "value": SECRET}],
        "resources": {"requests": resources, "limits": resources},
    }
    kind, _, owner_name = owner.partition("/")
    owners = [{"apiVersion": "v1", "kind": kind, "name": owner_name, "controller": True}] if owner else []
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": f"uid-{name}",
        "labels": dict(labels or {}),
        "annotations": {"note": SECRET},
        "ownerReferences": owners,
    }
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": {"containers": [container], "restartPolicy": "Never", **spec},
        "status": {"phase": "Pending"},
    }


def audit(
    verb: str, seconds: float, name: str, namespace: str = "vision", *, subresource: str = "", **more: Any
) -> Json:
    """An audit event about a pod."""
    reference = {"resource": "pods", "namespace": namespace, "name": name, "apiVersion": "v1"}
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": f"{verb}-{seconds}-{name}",
        "stage": "ResponseComplete",
        "requestURI": f"/api/v1/namespaces/{namespace}/pods",
        "verb": verb,
        "user": {"username": "system:serviceaccount:mlrun:mlrun-api"},
        "objectRef": {**reference, **({"subresource": subresource} if subresource else {})},
        "responseStatus": {"metadata": {}, "code": 201 if verb == "create" else 200},
        "requestReceivedTimestamp": at(seconds),
        "stageTimestamp": at(seconds + 0.01),
        **more,
    }


def life(
    made: Json,
    created: float,
    *,
    scheduled: float | None = None,
    completed: float | None = None,
    failed: float | None = None,
    deleted: float | None = None,
) -> list[Json]:
    """The audit events of one pod."""
    name, namespace = made["metadata"]["name"], made["metadata"]["namespace"]
    events = [audit("create", created, name, namespace, responseObject=made)]
    if scheduled is not None:
        binding = {"target": {"kind": "Node", "name": "ip-10-0-1-7"}}
        events += [
            audit("create", scheduled, name, namespace, subresource="binding", requestObject=binding),
            _status(name, namespace, scheduled + 3, {"phase": "Running"}),
        ]
    for moment, phase in ((completed, "Succeeded"), (failed, "Failed")):
        if moment is not None:
            events.append(_status(name, namespace, moment, {"phase": phase}))
    if deleted is not None:
        events.append(audit("delete", deleted, name, namespace))
    return events


def _status(name: str, namespace: str, seconds: float, status: Json) -> Json:
    patch = {"metadata": {"uid": f"uid-{name}"}, "status": status}
    return audit("patch", seconds, name, namespace, subresource="status", requestObject=patch, user=KUBELET)


def event(
    reason: str, seconds: float, name: str, *, kind: str = "Pod", namespace: str = "vision", message: str = ""
) -> Json:
    """An event of core/v1."""
    about = {"kind": kind, "namespace": namespace, "name": name, "uid": f"uid-{name}", "apiVersion": "v1"}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{reason}", "namespace": namespace},
        "involvedObject": about,
        "reason": reason,
        "message": message or SECRET,
        "type": "Normal",
        "firstTimestamp": at(seconds),
        "lastTimestamp": at(seconds),
        "count": 1,
    }


def run(
    name: str,
    started: float,
    ended: float | None,
    *,
    kind: str = "job",
    state: str = "completed",
    iteration: int = 0,
    project: str = "churn",
) -> Json:
    """A run of MLRun."""
    return {
        "kind": "run",
        "metadata": {
            "name": name,
            "uid": f"{name}{started}{iteration}",
            "project": project,
            "iteration": iteration,
            "labels": {"kind": kind, "owner": "ada"},
        },
        "spec": {
            "handler": "train",
            "parameters": {"password": SECRET},
            "node_selector": {"igz-clusters.io/role": "workload"},
            "function": f"{project}/{name}@1f",
        },
        "status": {
            "state": state,
            "start_time": at(started),
            "last_update": at(ended if ended is not None else started),
            **({"end_time": at(ended)} if ended is not None else {}),
            "results": {"key": SECRET},
        },
    }


def lines(entries: Iterable[Any]) -> str:
    """The entries as JSON lines."""
    return "".join(f"{json.dumps(each, separators=(',', ':'))}\n" for each in entries)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
