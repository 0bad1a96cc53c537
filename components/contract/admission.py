"""The admission guard of user namespaces: what a pod there must look like, in the API server's own language (CEL).

The guard stands in for a taint on the initial group: it makes every pod of a user namespace choose user pools.
"""

from dataclasses import dataclass
from typing import Final

from components.contract.groups import NodeGroup
from components.contract.labels import OWN_DOMAIN, TRUE, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.priorities import UserPriority

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


def is_marked(metadata: str, key: LabelKey) -> str:
    """Return the expression for: the labels at ``metadata`` say ``true`` for ``key``."""
    return f"has({metadata}.labels) && '{key}' in {metadata}.labels && {metadata}.labels['{key}'] == '{TRUE}'"


MAY_USE_CORE_SERVICES: Final = (
    f"authorizer.group('{OWN_DOMAIN}').resource('{CORE_SERVICES_RESOURCE}')"
    ".namespace(request.namespace).check('use').allowed()"
)

CORE_SERVICE_NEEDS_RIGHT: Final = (
    f"the label {LabelKey.CORE_SERVICE} lets a pod leave the user pools; "
    f"only who may 'use' {CORE_SERVICES_RESOURCE}.{OWN_DOMAIN} may set it. Ask the platform team, or drop the label"
)


POD_VARIABLES: Final = {
    "creates": "request.operation == 'CREATE'",
    "core": is_marked("object.metadata", LabelKey.CORE_SERVICE),
    "was": f"!variables.creates && {is_marked('oldObject.metadata', LabelKey.CORE_SERVICE)}",
    # Controllers and garbage collection touch metadata of core services; nobody else may touch what runs.
    "touched": "variables.creates ? variables.core : variables.core != variables.was"
    " || (variables.core && object.spec != oldObject.spec)",
}
"""Variables of the pod policy, in the order in which they build on each other."""


def pod_checks(groups: tuple[NodeGroup, ...]) -> tuple[Check, ...]:
    """Return what a pod of a user namespace must fulfil, over ``POD_VARIABLES``.

    Where a pod runs is decided when it is created, so most checks look at that moment only; the mark of a core
    service is guarded for the pod's whole life.
    """
    classes = ", ".join(f"'{name}'" for name in UserPriority)
    priority = "object.spec.?priorityClassName.orValue('')"
    checks = [
        Check(f"!variables.touched || {MAY_USE_CORE_SERVICES}", CORE_SERVICE_NEEDS_RIGHT),
        _on_create(
            f"{_selects(LabelKey.USER_WORKLOADS)} == '{TRUE}'",
            f"user pods must run on user pools: add nodeSelector {LabelKey.USER_WORKLOADS}: '{TRUE}' "
            "(MLRun and Nuclio add it by themselves)",
        ),
        _on_create(
            "object.spec.?nodeName.orValue('') == ''",
            f"user pods may not name a node: drop nodeName and select {LabelKey.USER_WORKLOADS}: '{TRUE}'",
        ),
        _on_create(
            f"{priority} in ['', {classes}]",
            f"user pods use {', '.join(UserPriority)} or no priority class; other classes are kept for core services",
        ),
    ]
    if any(g.lifecycle is Lifecycle.SPOT and not g.taints for g in groups):
        values = " or ".join(lifecycle.label_value for lifecycle in Lifecycle)
        checks.append(
            _on_create(
                f"{_selects(LabelKey.LIFECYCLE)} != '' || {_requires(LabelKey.LIFECYCLE)}",
                f"spot nodes carry no taint here: add nodeSelector {LabelKey.LIFECYCLE}: {values}, "
                "or use MLRun's preemption mode prevent or constrain",
            )
        )
    return tuple(checks)


def _on_create(expression: str, message: str) -> Check:
    return Check(f"!variables.creates || variables.core || {expression}", message)


def _selects(key: LabelKey) -> str:
    """Return the expression for the pod's own selector value of ``key``, empty if it has none."""
    return f"object.spec.?nodeSelector['{key}'].orValue('')"


def _requires(key: LabelKey) -> str:
    """Return the expression for: every term of the pod's required node affinity says something about ``key``."""
    affinity = "object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution"
    terms = f"{affinity}.?nodeSelectorTerms.orValue([])"
    return f"({terms}.size() > 0 && {terms}.all(t, t.?matchExpressions.orValue([]).exists(e, e.key == '{key}')))"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyParameters:
    """What the rules at admission know of the stack: the ``spec`` of the cluster's one parameter object.

    CEL reads a field by its camelCase name, such as ``params.spec.gpuResources``.
    """

    user_pools: tuple[str, ...]
    """Names of the pools that user work may run on."""
    user_classes: tuple[str, ...]
    """Priority classes that user work may name."""
    max_user_priority: int
    """User classes have values below it."""
    spot_taint_keys: tuple[str, ...]
    """Keys of the taints of spot nodes; empty where they carry none."""
    has_untainted_spot: bool
    """Whether spot nodes exist that no taint protects, so that pods must choose a lifecycle themselves."""
    gpu_resources: tuple[str, ...]
    """Names under which GPUs are requested; also the keys of the GPU nodes' taints."""
    elastic_pools: tuple[str, ...]
    """Names of the pools whose size the autoscaler changes."""
    approved_registries: tuple[str, ...]
    """Prefixes that images may have; empty accepts any."""
    jupyter_services: tuple[str, ...]
    """Names of the Jupyter services that production may run."""
