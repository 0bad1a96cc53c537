"""Pods and controllers of each kind, and what admission made of their place."""

from typing import Any

from components.contract.labels import AnnotationKey, LabelKey
from components.contract.priorities import SystemPriority
from support.admission import Manifest
from support.api import Answer
from support.cluster import pod

INITIAL = {LabelKey.ROLE.value: "initial"}
USER = {LabelKey.USER_WORKLOADS.value: "true"}
JOBS = {**USER, LabelKey.ROLE.value: "workload"}
CORE = {LabelKey.CORE_SERVICE.value: "true"}
SYSTEM = SystemPriority.MEDIUM.value
CLUSTER_GROUPS = ("system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated")

API_VERSIONS = {
    "Pod": "v1",
    "ReplicationController": "v1",
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
}


def made_by(controller: str) -> dict[str, Any]:
    """Return the options of a request by one of the cluster's own controllers."""
    return {"as_user": f"system:serviceaccount:kube-system:{controller}", "groups": CLUSTER_GROUPS}


def owner(kind: str, name: str = "app") -> Manifest:
    """Return an owner reference as a controller writes it."""
    return {"apiVersion": API_VERSIONS[kind], "kind": kind, "name": name, "uid": "1", "controller": True}


def workload(
    kind: str,
    namespace: str = "mlrun",
    labels: dict[str, str] | None = None,
    owners: tuple[Manifest, ...] = (),
    annotations: dict[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """Return an object of a kind whose pods choose what ``spec`` says, and are otherwise like those of a chart."""
    metadata: Manifest = {"name": "app", "namespace": namespace, **({"ownerReferences": [*owners]} if owners else {})}
    own = {"app": "app", **(labels or {})}
    made = pod("app", namespace=namespace, **spec)
    if kind == "Pod":
        metadata |= {"labels": own, "annotations": annotations or {}}
        return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": made["spec"]}
    restarts = "Never" if kind in {"Job", "CronJob"} else "Always"
    template = {
        "metadata": {"labels": own, "annotations": annotations or {}},
        "spec": {**made["spec"], "restartPolicy": restarts},
    }
    inside: Manifest = {"template": template}
    if kind == "ReplicationController":
        inside["selector"] = {"app": "app"}
    elif restarts == "Always":
        inside["selector"] = {"matchLabels": {"app": "app"}}
    if kind == "StatefulSet":
        inside["serviceName"] = "app"
    if kind == "CronJob":
        inside = {"schedule": "@daily", "jobTemplate": {"spec": inside}}
    return {"apiVersion": API_VERSIONS[kind], "kind": kind, "metadata": metadata, "spec": inside}


def template_of(body: Manifest) -> Manifest:
    """Return the pod template of an object, or the pod itself."""
    spec = body["spec"]
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    found: Manifest = spec.get("template", body)
    return found


def place_of(answer: Answer) -> tuple[dict[str, str] | None, bool, str | None]:
    """Return node selector, mark and class of the pods of an accepted object."""
    assert answer.accepted, answer.message
    template = template_of(answer.body)
    labels = template["metadata"].get("labels") or {}
    spec = template["spec"]
    is_core = labels.get(LabelKey.CORE_SERVICE.value) == "true"
    return spec.get("nodeSelector"), is_core, spec.get("priorityClassName")


def why_of(answer: Answer) -> str | None:
    """Return the reason that the API server noted for a place."""
    annotations = template_of(answer.body)["metadata"].get("annotations") or {}
    why: str | None = annotations.get(AnnotationKey.PLACED_BY.value)
    return why
