"""The admission guard of user namespaces: what a pod there must look like, in the API server's own language (CEL).

The guard stands in for a taint on the initial group: it makes every pod of a user namespace choose user pools.
"""

from dataclasses import dataclass
from typing import Final

from components.contract.groups import NodeGroup
from components.contract.labels import OWN_DOMAIN, TRUE, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.priorities import RESERVED_CLASSES, SystemPriority

CORE_SERVICES_RESOURCE: Final = "coreservices"
"""Virtual resource of our API group; who may ``use`` it may mark pods as core services."""

GUARDED_CONTROLLERS: Final = {
    "apps": ("daemonsets", "deployments", "replicasets", "statefulsets"),
    "batch": ("cronjobs", "jobs"),
    "": ("replicationcontrollers",),
}
"""Objects that hold a pod template, by API group."""


@dataclass(frozen=True, slots=True)
class Check:
    """One expression that must be true, and what the author of a refused object reads."""

    expression: str
    message: str


def is_marked_as_core_service(metadata: str) -> str:
    """Return the expression for: the object at ``metadata`` carries the core-service label."""
    key = LabelKey.CORE_SERVICE.value
    return f"has({metadata}.labels) && '{key}' in {metadata}.labels && {metadata}.labels['{key}'] == '{TRUE}'"


MAY_USE_CORE_SERVICES: Final = (
    f"authorizer.group('{OWN_DOMAIN}').resource('{CORE_SERVICES_RESOURCE}')"
    ".namespace(request.namespace).check('use').allowed()"
)

CORE_SERVICE_NEEDS_RIGHT: Final = (
    f"the label {LabelKey.CORE_SERVICE} lets a pod leave the user pools; "
    f"only who may 'use' {CORE_SERVICES_RESOURCE}.{OWN_DOMAIN} may set it. Ask the platform team, or drop the label"
)


def pod_checks(groups: tuple[NodeGroup, ...]) -> tuple[Check, ...]:
    """Return what a pod of a user namespace must fulfil; the variable ``core`` says that it is a core service."""
    checks = [
        Check(f"!variables.core || {MAY_USE_CORE_SERVICES}", CORE_SERVICE_NEEDS_RIGHT),
        Check(
            f"variables.core || {_selects(LabelKey.USER_WORKLOADS)} == '{TRUE}'",
            f"user pods must run on user pools: add nodeSelector {LabelKey.USER_WORKLOADS}: '{TRUE}' "
            "(MLRun and Nuclio add it by themselves)",
        ),
        Check(
            "variables.core || !has(object.spec.nodeName) || object.spec.nodeName == ''",
            f"user pods may not name a node: drop nodeName and select {LabelKey.USER_WORKLOADS}: '{TRUE}'",
        ),
        Check(
            f"variables.core || !has(object.spec.priorityClassName) || !({_is_system_class()})",
            "system priority classes are kept for core services: use igz-workload-low, -medium or -high",
        ),
    ]
    if any(g.lifecycle is Lifecycle.SPOT and not g.taints for g in groups):
        values = " or ".join(lifecycle.label_value for lifecycle in Lifecycle)
        checks.append(
            Check(
                f"variables.core || {_selects(LabelKey.LIFECYCLE)} != '' || {_requires(LabelKey.LIFECYCLE)}",
                f"spot nodes carry no taint here: add nodeSelector {LabelKey.LIFECYCLE}: {values}, "
                "or use MLRun's preemption mode prevent or constrain",
            )
        )
    return tuple(checks)


def _selects(key: LabelKey) -> str:
    """Return the expression for the pod's own selector value of ``key``, empty if it has none."""
    selector = "object.spec.nodeSelector"
    return f"(has({selector}) && '{key}' in {selector} ? {selector}['{key}'] : '')"


def _requires(key: LabelKey) -> str:
    """Return the expression for: every term of the pod's required node affinity says something about ``key``."""
    affinity = "object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution"
    terms = f"{affinity}.?nodeSelectorTerms.orValue([])"
    return f"({terms}.size() > 0 && {terms}.all(t, t.?matchExpressions.orValue([]).exists(e, e.key == '{key}')))"


def _is_system_class() -> str:
    names = ", ".join(f"'{name}'" for name in (*RESERVED_CLASSES, *SystemPriority))
    return f"object.spec.priorityClassName in [{names}]"
