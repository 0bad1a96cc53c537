"""Recognises what created a pod by its labels and owner.

The labels are those in ``tests/kit/shapes``, which cites the source of each: MLRun's runtimes, Nuclio, the operators of
Spark and MPI, Kubeflow Pipelines' Argo, JupyterHub's KubeSpawner, and the charts of the platform's services.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from components.contract.headroom import HEADROOM
from components.contract.labels import TRUE, LabelKey
from workbench.rehearsal.replay.observed import LeftOut, Origin
from workbench.rehearsal.scenario.work import WorkKind

MLRUN_CLASS: Final = "mlrun/class"
MLRUN_KINDS: Final = {
    "job": WorkKind.MLRUN_JOB, "spark": WorkKind.SPARK, "remote-spark": WorkKind.MLRUN_JOB, "dask": WorkKind.DASK,
    "mpijob": WorkKind.MPI,
}  # fmt: skip
"""Kinds of MLRun's runtimes whose runs are pods (mlrun/mlrun, ``mlrun/runtimes/__init__.py``, ``RuntimeKinds``)."""

_SYSTEM: Final = re.compile(
    rf"kube-.*|gatekeeper-system|calico-.*|tigera-operator|amazon-.*|aks-.*|azure-arc|{HEADROOM}"
)
_NOTEBOOKS: Final = ("singleuser-server", "jupyter-notebook")
_CHART_NAMES: Final = ("mlrun", "mlrun-ce", "spark-operator", "mpi-operator", "grafana", "kube-state-metrics",
                       "prometheus", "seaweedfs")  # fmt: skip
_HUB: Final = ("hub", "proxy", "user-scheduler", "user-placeholder", "image-puller", "continuous-image-puller")
_APPS: Final = {
    WorkKind.SPARK: (("spark-role",), ("sparkoperator.k8s.io/app-name", "spark-app-selector"), "driver"),
    WorkKind.DASK: (("dask.org/component",), ("dask.org/cluster-name",), "scheduler"),
    WorkKind.MPI: (
        ("mpi-job-role", "training.kubeflow.org/job-role", "mpi_role_type"),
        ("mpi-job-name", "training.kubeflow.org/job-name", "mpi_job_name"),
        "launcher",
    ),
}
"""Labels of a pod's part in its application and of the application's name, and the part that leads."""


def origin_of(metadata: Mapping[str, Any], namespace: str) -> Origin | LeftOut:
    """Return what created a pod, or why it is left out.

    Parameters
    ----------
    metadata
        The pod's metadata; annotations are not read.
    namespace
        The pod's namespace.
    """
    labels = {str(key): str(value) for key, value in (metadata.get("labels") or {}).items()}
    owner, owner_name = _owner(metadata.get("ownerReferences") or ())
    if owner == "DaemonSet":
        return LeftOut.DAEMON_SET
    if owner == "Node" or _SYSTEM.fullmatch(namespace):
        return LeftOut.SYSTEM
    kind = _kind(labels)
    if kind is None and _is_core(labels):
        return LeftOut.CORE
    kind = kind or kind_of_owner(owner)
    team = labels.get("mlrun/project") or labels.get("nuclio.io/project-name") or namespace
    parts, names, leader = _APPS.get(kind, ((), (), ""))
    app = next((labels[name] for name in names if name in labels), "")
    part = next((labels[name] for name in parts if name in labels), "")
    base = labels.get("mlrun/function") or labels.get("nuclio.io/function-name") or _base(owner, owner_name, labels)
    is_leader = part == leader if part else False
    base = base if kind not in _UNNAMED else ""
    return Origin(kind=kind, base=base, team=team, app=f"{namespace}/{app}" if app else "", is_leader=is_leader)


_UNNAMED: Final = (WorkKind.NOTEBOOK, WorkKind.PIPELINE, WorkKind.POD)
"""Kinds whose pods are named after people or single runs."""


def kind_of_owner(owner: str) -> WorkKind:
    """Return the kind of work of pods that only their owner's kind describes; empty without an owner."""
    if owner == "Job":
        return WorkKind.BATCH_JOB
    return WorkKind.SERVICE if owner else WorkKind.POD


def _kind(labels: Mapping[str, str]) -> WorkKind | None:
    parts = (labels.get("component"), labels.get("app.kubernetes.io/component"))
    if labels.get("nuclio.io/class") == "function":
        return WorkKind.NUCLIO_FUNCTION
    if "hub.jupyter.org/username" in labels or any(part in _NOTEBOOKS for part in parts):
        return WorkKind.NOTEBOOK
    if "workflows.argoproj.io/workflow" in labels:
        return WorkKind.PIPELINE
    for kind, (roles, _, _) in _APPS.items():
        if any(role in labels for role in roles):
            return kind
    if MLRUN_CLASS in labels:
        return MLRUN_KINDS.get(labels[MLRUN_CLASS], WorkKind.MLRUN_JOB)
    return None


def _is_core(labels: Mapping[str, str]) -> bool:
    return (
        labels.get(LabelKey.CORE_SERVICE) == TRUE
        or labels.get("nuclio.io/class") == "service"
        or labels.get("application-crd-id") == "kubeflow-pipelines"
        or labels.get("app.kubernetes.io/name") in _CHART_NAMES
        or (labels.get("app") == "jupyterhub" or labels.get("app.kubernetes.io/name") == "jupyterhub")
        or labels.get("app.kubernetes.io/component") in _HUB
    )


def _owner(owners: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """Return kind and name of the owner that controls a pod."""
    chosen = next((owner for owner in owners if owner.get("controller")), owners[0] if owners else {})
    return str(chosen.get("kind", "")), str(chosen.get("name", ""))


def _base(owner: str, name: str, labels: Mapping[str, str]) -> str:
    """Return the name of the Deployment, StatefulSet or CronJob that an owner belongs to."""
    if owner == "ReplicaSet":
        return re.sub(rf"-({re.escape(labels.get('pod-template-hash', ''))}|[a-f0-9]{{8,10}})$", "", name)
    if owner == "Job":
        return re.sub(r"-[0-9]+$", "", name)
    return name if owner == "StatefulSet" else ""
