"""Kubeflow Pipelines: settings of its workflow controller (Argo) and its services.

Sources: kubeflow/pipelines 2.17.0 (4a3592cb) ``manifests/kustomize``; argoproj/argo-workflows v4.0.5 (0ab14521) and
v3.4.17 (89cbdb53), ``workflow/controller``; mlrun/ce 44ef417e ``charts/mlrun-ce/templates/pipelines``.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.contract.labels import TRUE, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.placement import has_untainted_spot
from components.contract.pools import PoolRole
from components.contract.priorities import DEFAULT_USER_PRIORITY, SystemPriority
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.systems.system_values import SystemChoices, SystemValues
from components.contract.systems.yaml_text import yaml_text

VERSION: Final = "2.17.0"
"""Version of the manifests of Kubeflow Pipelines."""

STANDALONE: Final = "kubeflow"
"""Namespace that the manifests require. In other namespaces, pipelines are those of MLRun CE's chart."""

_MANIFESTS: Final = "https://github.com/kubeflow/pipelines//manifests/kustomize"

CONTROLLER: Final = "workflow-controller"
"""Deployment of Argo's controller, and its priority class in the manifests and MLRun CE's chart."""

CONFIG_MAP: Final = "workflow-controller-configmap"
"""ConfigMap of the controller, which reads it again when it changes."""

_KEPT: Final[Mapping[str, Any]] = {
    "ttlStrategy": {"secondsAfterCompletion": 3600, "secondsAfterSuccess": 3600, "secondsAfterFailure": 3600},
    "templateDefaults": {"retryStrategy": {"limit": "2", "retryPolicy": "OnError"}},
}
"""Settings of the manifests to keep: ``workflowDefaults`` is one text, so a patch replaces all of it."""


def values(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return a Kustomization of the manifests in their namespace; elsewhere, objects on top of MLRun CE's chart."""
    return _standalone(cluster, choices) if choices.namespace == STANDALONE else _of_mlrun_ce(cluster, choices)


def step_settings(cluster: PlatformCluster) -> dict[str, Any]:
    """Return ``spec`` of the workflows' defaults: the placement of steps and drivers whose authors set none.

    A step's own selector replaces this one. Tolerations are left out, so steps stay off tainted spot nodes. If spot
    nodes have no taint, admission keeps steps off them from Kubernetes 1.36 on, and before that the selector does.
    """
    stays = not cluster.places_by_itself and has_untainted_spot(cluster.groups)
    lifecycle = {LabelKey.LIFECYCLE.value: Lifecycle.ON_DEMAND.label_value} if stays else {}
    # `podPriorityClassName` is the workflow's field; that of a template is called `priorityClassName`.
    return {
        "nodeSelector": {**cluster.job_selector, **lifecycle},
        "podPriorityClassName": DEFAULT_USER_PRIORITY.value,
    }


def _of_mlrun_ce(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    """Return parts of objects that MLRun CE's chart creates but whose fields its values cannot set."""
    at = {"namespace": choices.namespace}
    notes = ["these are for pipelines of MLRun CE's release; for separate pipelines add --namespace kubeflow"]
    if choices.storage_class:
        notes.append("--storage-class has no effect here; --for mlrun-ce uses it")
    items: list[dict[str, Any]] = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": CONFIG_MAP, **at},
            "data": {"workflowDefaults": yaml_text({"spec": step_settings(cluster)})},
        }
    ]
    if not cluster.places_by_itself:
        # The controller's pods have the class `workflow-controller` and no mark, so PR-05 refuses them.
        items.append(_deployment(CONTROLLER, _as_core_service(), at))
        notes.append("helm upgrade sets the class of the workflow controller back: repeat the command after each")
    content = {"apiVersion": "v1", "kind": "List", "items": items}
    # The command does not use our own field manager, by which a run recognises the stack's objects.
    command = "kubectl apply --server-side --force-conflicts -f FILE"
    return SystemValues(content=content, notes=tuple(notes), next=command)


def _standalone(cluster: PlatformCluster, choices: SystemChoices) -> SystemValues:
    content = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [f"{_MANIFESTS}/env/platform-agnostic?ref={VERSION}"],
        "patches": list(_patches(cluster, choices)),
    }
    cluster_wide = f"kubectl apply -k '{_MANIFESTS}/cluster-scoped-resources?ref={VERSION}'"
    note = "the file must be called kustomization.yaml; the command runs in its folder"
    return SystemValues(content=content, notes=(note,), next=f"{cluster_wide} && kubectl apply -k .")


def _patches(cluster: PlatformCluster, choices: SystemChoices) -> Iterator[dict[str, Any]]:
    defaults = yaml_text({"spec": {**step_settings(cluster), **_KEPT}})
    yield _patch("ConfigMap", CONFIG_MAP, [{"op": "add", "path": "/data/workflowDefaults", "value": defaults}])
    # No pod uses this class, and charts that contain it too, such as MLRun CE's, could not be installed.
    head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": CONTROLLER}}
    yield _patch("PriorityClass", CONTROLLER, {"$patch": "delete", **head})
    if cluster.places_by_itself:  # admission sets classes of core services that have none
        template = {"spec": {"priorityClassName": SystemPriority.MEDIUM.value}}
        yield _patch("Deployment", CONTROLLER, _deployment(CONTROLLER, template))
    else:
        yield _patch("Deployment", "", _deployment("any", _as_core_service()))
    if choices.storage_class:
        path = "/spec/storageClassName"
        yield _patch("PersistentVolumeClaim", "", [{"op": "add", "path": path, "value": choices.storage_class}])


def _patch(kind: str, name: str, patch: Any) -> dict[str, Any]:
    return {"target": {"kind": kind, **({"name": name} if name else {})}, "patch": yaml_text(patch)}


def _deployment(name: str, template: dict[str, Any], at: Mapping[str, str] | None = None) -> dict[str, Any]:
    head = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, **(at or {})}}
    return {**head, "spec": {"template": template}}


def _as_core_service() -> dict[str, Any]:
    return {
        "metadata": {"labels": {LabelKey.CORE_SERVICE.value: TRUE}},
        "spec": {
            "nodeSelector": {LabelKey.ROLE.value: PoolRole.INITIAL.value},
            "priorityClassName": SystemPriority.MEDIUM.value,
        },
    }
