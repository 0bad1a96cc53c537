"""Expressions that are checked at admission, in CEL, the API server's own language.

The guard of user namespaces replaces a taint on the initial group: it makes every pod there select user pools.
"""

from dataclasses import dataclass
from typing import Final

from components.contract.groups import NodeGroup, has_open_spot
from components.contract.labels import OWN_DOMAIN, TRUE, LabelKey
from components.contract.lifecycle import LABEL_VALUES

CORE_SERVICES_RESOURCE: Final = "coreservices"
"""Virtual resource of our API group; anyone who may ``use`` it may mark pods as core services."""

GUARDED_CONTROLLERS: Final = {
    "apps": ("daemonsets", "deployments", "replicasets", "statefulsets"),
    "batch": ("cronjobs", "jobs"),
    "": ("replicationcontrollers",),
}
"""Objects that contain a pod template, by API group."""

POD_SUBRESOURCES: Final = ("pods/ephemeralcontainers", "pods/resize", "pods/status")
"""Subresources through which labels or the spec of a pod can be changed."""

WAIVER_PREFIX: Final = f"policy.{OWN_DOMAIN}/waive-"
"""Prefix of an annotation of a user namespace, followed by a rule's id in lower case. Its value is a date, such as
``2026-12-31``: pods created there until that day may violate the rule."""

CLOUD_IDENTITIES: Final = "eks:"
"""Prefix of the names that EKS itself uses; reserved for EKS:
https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html."""


@dataclass(frozen=True, slots=True)
class Check:
    """One expression that must be true, and the message of a rejection."""

    expression: str
    message: str


def is_marked(metadata: str, key: LabelKey) -> str:
    """Return the expression that is true if the labels at ``metadata`` have ``true`` for ``key``."""
    return f"has({metadata}.labels) && '{key}' in {metadata}.labels && {metadata}.labels['{key}'] == '{TRUE}'"


def keeps(field: str, *prefixes: str) -> str:
    """Return the expression: an update changes no labels or annotations (``field``) whose keys have a given prefix."""
    old, new = (f"{version}.metadata.?{field}.orValue({{}})" for version in ("oldObject", "object"))
    guarded = " || ".join(f"key.startsWith('{prefix}')" for prefix in prefixes)
    return f"[{old}, {new}].all(map, map.all(key, !({guarded}) || {old}[?key] == {new}[?key]))"


def may_manage(resource: str, part: str = "") -> str:
    """Return the expression: the user has the right to manage a virtual resource of our API group, or a part of it."""
    subresource = f".subresource('{part}')" if part else ""
    return f"authorizer.group('{OWN_DOMAIN}').resource('{resource}'){subresource}.check('manage').allowed()"


MAY_USE_CORE_SERVICES: Final = (
    f"authorizer.group('{OWN_DOMAIN}').resource('{CORE_SERVICES_RESOURCE}')"
    ".namespace(request.namespace).check('use').allowed()"
)


def containers_where(bad: str, field: str = "") -> str:
    """Return the expression for texts that name the containers ``c`` for which ``bad`` holds.

    Parameters
    ----------
    field
        The wrong field, named in the text. Default: none.
    """
    note = f" + ' ({field})'" if field else ""
    return f"variables.containers.filter(c, {bad}).map(c, 'container ' + string(c.name){note})"


CORE_SERVICE_NEEDS_RIGHT: Final = (
    f"the label {LabelKey.CORE_SERVICE} lets a pod leave the user pools; "
    f"setting it requires the right to 'use' {CORE_SERVICES_RESOURCE}.{OWN_DOMAIN}. Ask the platform team or remove it"
)


POD_VARIABLES: Final = {
    "creates": "request.operation == 'CREATE'",
    "core": is_marked("object.metadata", LabelKey.CORE_SERVICE),
    "was": f"!variables.creates && {is_marked('oldObject.metadata', LabelKey.CORE_SERVICE)}",
    # Controllers and garbage collection may change metadata of core services; a change of mark or spec needs the right.
    "touched": "variables.creates ? variables.core : variables.core != variables.was"
    " || (variables.core && object.spec != oldObject.spec)",
}
"""Variables of the pod policy; each may use those before it."""

POD_MARK: Final = Check(f"!variables.touched || {MAY_USE_CORE_SERVICES}", CORE_SERVICE_NEEDS_RIGHT)
"""The label of a core service, protected for the pod's whole life; uses ``POD_VARIABLES``."""

# `dyn`, because the field of one kind is unknown to the type of another.
TEMPLATE_VARIABLES: Final = {
    "template": "has(dyn(object).spec.jobTemplate) ? dyn(object).spec.jobTemplate.spec.template"
    " : has(dyn(object).spec.template) ? dyn(object).spec.template : dyn(object)",
    "metadata": "variables.template.?metadata.orValue({})",
    "core": is_marked("variables.metadata", LabelKey.CORE_SERVICE),
}
"""Variables that pods and controllers' templates share; each may use those before it."""

_WAIVER_HOLDS: Final = (
    f"key.startsWith('{WAIVER_PREFIX}') && variables.annotations[key].matches('^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$')"
    " && variables.created < variables.annotations[key] + 'T24'"
)

RULE_VARIABLES: Final = {
    **TEMPLATE_VARIABLES,
    "spec": "variables.template.spec",
    "containers": "variables.spec.containers + variables.spec.?initContainers.orValue([])"
    " + variables.spec.?ephemeralContainers.orValue([])",
    # A volume can contain an image too (KEP-4639).
    "images": "variables.containers.map(c, {'in': 'container ' + string(c.name), 'name': string(c.?image.orValue(''))})"
    " + variables.spec.?volumes.orValue([]).filter(v, v.?image.hasValue())"
    ".map(v, {'in': 'volume ' + string(v.name), 'name': string(v.?image.?reference.orValue(''))})",
    # The scheduler, not the author, chose the node of an existing pod.
    "placed": "request.operation == 'UPDATE'",
    "annotations": "namespaceObject.metadata.?annotations.orValue({})",
    # The API server sets this time before admission. Dates in this form can be compared as text.
    "created": "string(dyn(object).metadata.?creationTimestamp.orValue('9999'))",
    "waivers": f"variables.annotations.filter(key, {_WAIVER_HOLDS})",
}
"""Variables of the rules about pods; each may use those before it."""


PREEMPTION_MODE_KINDS: Final = ("application", "dask", "databricks", "handler", "job", "mpijob", "serving", "spark")
"""Values of the label ``mlrun/class`` of pods whose function has a preemption mode.

In the modes ``allow`` and ``none`` MLRun writes nothing into a pod if spot nodes have no taint, so these pods count as
having chosen (MLRun 1.12.1, ``enrich_preemption_mode`` in ``mlrun/k8s_utils.py``).
"""

BUILT_BY_MLRUN: Final = "'mlrun/class' in {labels} || 'workflows.argoproj.io/workflow' in {labels}"
"""Pods whose authors cannot set a node selector: image builds before MLRun 1.8, and steps of ML Pipelines 2."""


def says_lifecycle() -> str:
    """Return the expression: a new pod chooses spot or on-demand nodes, or its function's preemption mode did.

    A pod whose affinity names its node, as the DaemonSet controller sets it, counts as having chosen.
    """
    labels = "object.metadata.?labels"
    chosen = _every_term(f"t.?matchExpressions.orValue([]).exists(e, e.key == '{LabelKey.LIFECYCLE}')")
    named = _every_term("t.?matchFields.orValue([]).exists(f, f.operator == 'In')")
    return (
        f"({_selects(LabelKey.LIFECYCLE)} != '' || {chosen} || {named}"
        f" || {labels}['mlrun/class'].orValue('') in {list(PREEMPTION_MODE_KINDS)}"
        f" || {labels}['nuclio.io/class'].orValue('') != '')"
    )


def spot_checks(groups: tuple[NodeGroup, ...]) -> tuple[Check, ...]:
    """Return what a pod of a user namespace must select if no taint keeps it off spot nodes, using ``POD_VARIABLES``.

    This is not a policy rule, because a pod does not show whether its cluster has such nodes.
    """
    if not has_open_spot(groups):
        return ()
    values = " or ".join(LABEL_VALUES)
    made = BUILT_BY_MLRUN.format(labels="object.metadata.?labels.orValue({})")
    return (
        Check(
            f"!variables.creates || variables.core || {says_lifecycle()} || {made}",
            f"spot nodes carry no taint here, so a pod must say whether it may use them: add nodeSelector "
            f"{LabelKey.LIFECYCLE}: {values}",
        ),
    )


def _selects(key: LabelKey) -> str:
    """Return the expression for the value of ``key`` in the pod's own node selector, empty if it has none."""
    return f"object.spec.?nodeSelector['{key}'].orValue('')"


def _every_term(holds: str) -> str:
    """Return the expression: a pod has required node affinity, and ``holds`` of each of its terms ``t``."""
    affinity = "object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution"
    terms = f"{affinity}.?nodeSelectorTerms.orValue([])"
    return f"({terms}.size() > 0 && {terms}.all(t, {holds}))"
