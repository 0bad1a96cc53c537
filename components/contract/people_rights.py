"""What people and pipelines may do in the cluster: rights of Kubernetes' RBAC, each with its reason.

No role has a wildcard (HK-04), reads a Secret, changes roles, bindings, quotas, limits, network policies or admission,
gets a token, impersonates, or runs a command in a container.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from components.contract.labels import OWN_DOMAIN
from components.contract.policy_parameters import PARAMETERS_PLURAL


class PeopleRole(StrEnum):
    """Names of the cluster roles."""

    CLUSTER_READER = "igz-clusters:cluster-reader"
    """Read everything except Secrets: IT administrators."""

    CORE_SERVICES = "igz-clusters:core-services"
    """May mark pods as core services. The admission guard creates this role."""

    DELIVERY = "igz-clusters:delivery"
    """Workloads of one namespace: pipelines, and IT administrators where core services run."""

    IT_ADMIN = "igz-clusters:it-admin"
    """Nodes and logs."""

    JOBS = "igz-clusters:jobs"
    """Jobs and functions of one namespace: data scientists."""

    NAMESPACE_READER = "igz-clusters:namespace-reader"
    """Work and logs of one namespace: data scientists, and pipelines that apply workloads there."""

    NODE_READER = "igz-clusters:node-reader"
    """Nodes and priority classes: data scientists."""

    VERIFIER = "igz-clusters:verifier"
    """Objects that a stack declares, and those that show its state: pipelines that compare a cluster with its stack."""


@dataclass(frozen=True, slots=True)
class Right:
    """Verbs on resources, and why a role has them."""

    reason: str
    verbs: tuple[str, ...]
    resources: Mapping[str, tuple[str, ...]]
    """By API group; the empty one is Kubernetes' core group."""

    def rules(self) -> Iterator[dict[str, Any]]:
        """Yield the rules of a role, one for each API group."""
        for group, names in self.resources.items():
            yield {"apiGroups": [group], "resources": list(names), "verbs": list(self.verbs)}


_LOOK: Final = ("get", "list", "watch")
_CHANGE: Final = ("create", "patch", "update")
_OWN: Final = (*_CHANGE, "delete")

_SYSTEMS: Final[Mapping[str, tuple[str, ...]]] = {
    "argoproj.io": ("cronworkflows", "workflows", "workflowtemplates"),
    "kubeflow.org": ("mpijobs", "scheduledworkflows"),
    "nuclio.io": ("nuclioapigateways", "nucliofunctionevents", "nucliofunctions", "nuclioprojects"),
    "sparkoperator.k8s.io": ("scheduledsparkapplications", "sparkapplications"),
}
"""Custom resources of MLRun, Nuclio and their operators."""

_NAMESPACED: Final[Mapping[str, tuple[str, ...]]] = {
    "": (
        *("configmaps", "events", "limitranges", "persistentvolumeclaims", "pods", "replicationcontrollers"),
        *("resourcequotas", "services"),
    ),
    "apps": ("daemonsets", "deployments", "replicasets", "statefulsets"),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "discovery.k8s.io": ("endpointslices",),
    "events.k8s.io": ("events",),
    "metrics.k8s.io": ("pods",),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    "policy": ("poddisruptionbudgets",),
    **_SYSTEMS,
}

_CLUSTER_WIDE: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("endpoints", "namespaces", "nodes", "persistentvolumes", "podtemplates", "serviceaccounts"),
    "admissionregistration.k8s.io": (
        *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations"),
        *("validatingadmissionpolicies", "validatingadmissionpolicybindings", "validatingwebhookconfigurations"),
    ),
    "apiextensions.k8s.io": ("customresourcedefinitions",),
    "apiregistration.k8s.io": ("apiservices",),
    "apps": ("controllerrevisions",),
    "coordination.k8s.io": ("leases",),
    OWN_DOMAIN: (PARAMETERS_PLURAL,),
    "metrics.k8s.io": ("nodes",),
    "networking.k8s.io": ("ingressclasses",),
    "node.k8s.io": ("runtimeclasses",),
    "rbac.authorization.k8s.io": ("clusterrolebindings", "clusterroles", "rolebindings", "roles"),
    "resource.k8s.io": ("deviceclasses", "resourceclaims", "resourceclaimtemplates", "resourceslices"),
    "scheduling.k8s.io": ("priorityclasses",),
    "storage.k8s.io": ("csidrivers", "csinodes", "csistoragecapacities", "storageclasses", "volumeattachments"),
}

_COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    "": (
        *("configmaps", "limitranges", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes", "pods"),
        *("resourcequotas", "serviceaccounts", "services"),
    ),
    "admissionregistration.k8s.io": (
        *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations"),
        *("validatingadmissionpolicies", "validatingadmissionpolicybindings", "validatingwebhookconfigurations"),
    ),
    "apiextensions.k8s.io": ("customresourcedefinitions",),
    "apps": ("daemonsets", "deployments", "replicasets"),
    OWN_DOMAIN: (PARAMETERS_PLURAL,),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    "policy": ("poddisruptionbudgets",),
    "rbac.authorization.k8s.io": ("clusterrolebindings", "clusterroles", "rolebindings", "roles"),
    "scheduling.k8s.io": ("priorityclasses",),
    "storage.k8s.io": ("storageclasses",),
}
"""Kinds that stacks declare, those that the engine reads to see whether a Deployment is available, and two more.

Webhooks are for passports: a webhook can change every object that a stack declares, and every pod. Services and
Ingresses own load balancers: a preview reads them if a change removes the ways in to a cluster.
"""

ROLES: Final[Mapping[PeopleRole, tuple[Right, ...]]] = {
    PeopleRole.CLUSTER_READER: (
        Right("see what runs in every namespace, and why it waits", _LOOK, _NAMESPACED),
        Right("see nodes, storage, admission and rights, and compare the cluster with the stack", _LOOK, _CLUSTER_WIDE),
    ),
    PeopleRole.IT_ADMIN: (
        Right(
            "label, cordon and taint application nodes; admission refuses others", ("patch", "update"), {"": ("nodes",)}
        ),
        Right(
            "change the label of the lifecycle, which admission guards",
            ("manage",),
            {OWN_DOMAIN: ("nodes/lifecycle",)},
        ),
        Right("drain a node; disruption budgets hold", ("create",), {"": ("pods/eviction",)}),
        Right("find the cause of a failure in any namespace", ("get",), {"": ("pods/log",)}),
    ),
    PeopleRole.NAMESPACE_READER: (
        Right("see work, why it waits, and what its quota leaves", _LOOK, _NAMESPACED),
        Right("find the cause of a failure", ("get",), {"": ("pods/log",)}),
    ),
    PeopleRole.NODE_READER: (
        Right(
            "see which nodes and classes work can name",
            _LOOK,
            {"": ("nodes",), "scheduling.k8s.io": ("priorityclasses",)},
        ),
    ),
    PeopleRole.JOBS: (
        Right(
            "run jobs and functions, and stop them",
            _OWN,
            {
                "argoproj.io": ("workflows",),
                "batch": ("jobs",),
                "kubeflow.org": ("mpijobs",),
                "nuclio.io": ("nucliofunctions",),
                "sparkoperator.k8s.io": ("sparkapplications",),
            },
        ),
        Right("run a single pod, and stop pods", ("create", "delete"), {"": ("pods",)}),
        # Clients that use WebSockets need `get` too.
        Right("open the page of a job, such as Dask's", ("create", "get"), {"": ("pods/portforward",)}),
    ),
    PeopleRole.VERIFIER: (
        Right("compare the cluster with the stack: `drift`, `verify`, `passport`", ("get", "list"), _COMPARED),
    ),
    PeopleRole.DELIVERY: (
        Right(
            "apply workloads and what leads to them, and remove them",
            _OWN,
            {
                "": ("configmaps", "services"),
                "apps": ("deployments", "statefulsets"),
                "autoscaling": ("horizontalpodautoscalers",),
                "batch": ("cronjobs", "jobs"),
                "networking.k8s.io": ("ingresses",),
                "policy": ("poddisruptionbudgets",),
                **_SYSTEMS,
            },
        ),
        Right("give workloads volumes; a deletion would lose data", _CHANGE, {"": ("persistentvolumeclaims",)}),
        Right("restart a pod", ("delete",), {"": ("pods",)}),
        Right("scale", ("get", "patch", "update"), {"apps": ("deployments/scale", "statefulsets/scale")}),
    ),
}
"""Rights of each role that this package creates for people."""
