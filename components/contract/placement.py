"""Where pods of user namespaces run if their authors chose no place: expressions and patches in CEL.

A place is a set of nodes that a pod selects. From Kubernetes 1.36 on, the API server adds the place. Before, it checks
the author's rights when a controller is created.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from components.contract.admission import MAY_USE_CORE_SERVICES, TEMPLATE_VARIABLES, Check
from components.contract.clusters import SPOT_TAINTS
from components.contract.environments import ClusterKind
from components.contract.groups import NodeGroup
from components.contract.labels import TRUE, AnnotationKey, LabelKey, WellKnownLabel
from components.contract.lifecycle import Lifecycle
from components.contract.pools import PoolRole
from components.contract.priorities import SystemPriority

FIRST_MUTATING_MINOR: Final = 36
"""Kubernetes 1.36 is the first with MutatingAdmissionPolicy v1:
https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/."""

PLACE_KEYS: Final = (
    LabelKey.POOL.value,
    LabelKey.ROLE.value,
    LabelKey.USER_WORKLOADS.value,
    WellKnownLabel.HOSTNAME.value,
)
"""Node labels that choose a place. A lifecycle alone does not: it says nothing about pools."""

BY_THE_CLUSTER: Final = "'system:serviceaccounts:kube-system' in request.userInfo.groups"
"""True if one of the cluster's own controllers sends the request."""


class PlacementEngine(StrEnum):
    """How the API server treats pods without a place."""

    MUTATION = "mutation"
    """The API server adds a place to templates and bare pods that chose none."""

    AUTHORS = "authors"
    """The API server refuses templates without a place, unless their author may install core services."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """Settings of placement at admission."""

    engine: PlacementEngine = PlacementEngine.MUTATION
    core_namespaces: tuple[str, ...] = ()
    """User namespaces in which core services run too. Default: none."""
    core_class: str = SystemPriority.MEDIUM.value
    """Priority class of core services that name none; empty sets none."""
    has_untainted_spot: bool = False
    """Whether pods must choose a lifecycle because spot nodes carry no taint. Default: they need not."""
    job_role: str = ""
    """Role of the pools for plain jobs. Default: pods without a place may run on all user pools."""
    gpu_resources: tuple[str, ...] = ()
    """Names under which GPUs are requested; pods that request one get no role. Default: there are no GPUs."""

    @property
    def mutates(self) -> bool:
        """Whether the API server changes pods."""
        return self.engine is PlacementEngine.MUTATION


def offers_mutation(cluster: Mapping[str, object]) -> bool | None:
    """Return whether a cluster's API server can add places, from the section ``cluster`` of a stack file.

    None if the section does not show it: only an existing cluster itself knows its version.
    """
    said, version = cluster.get("mutatingAdmission"), str(cluster.get("version") or "")
    if cluster.get("kind") == ClusterKind.LOCAL:
        return True
    if isinstance(said, bool):
        return said
    major, minor, *_ = [*version.split("."), ""]
    return int(minor) >= FIRST_MUTATING_MINOR if major == "1" and minor.isdecimal() else None


def has_untainted_spot(groups: Iterable[NodeGroup]) -> bool:
    """Return whether any group has spot nodes without a spot taint.

    Pods that tolerate the nodes' other taints, such as pods that request a GPU, may then run there without choosing
    spot. ``groups.has_open_spot`` is about pods without tolerations, whose authors must choose a lifecycle.
    """
    return any(group.lifecycle is Lifecycle.SPOT and not set(SPOT_TAINTS) & set(group.taints) for group in groups)


def uses_gpu(spec: str, names: Iterable[str]) -> str:
    """Return the expression: a pod requests a GPU by one of the names, a MIG slice of it, or any device by a claim.

    ``spec`` is the expression for the pod's spec.
    """
    if not (names := list(names)):
        return "false"
    amount = " && string(container.resources.limits[name]) != '0'"
    return f"{spec}.?resourceClaims.orValue([]).size() > 0 || {lists_gpu(spec, names, amount)}"


def lists_gpu(spec: str, names: Sequence[str], amount: str = "") -> str:
    """Return the expression: a container's limits have one of the names or a MIG slice of it, even with 0.

    The API server adds the toleration of the GPU's taint to all such pods (kubernetes v1.36.3,
    ``plugin/pkg/admission/extendedresourcetoleration/admission.go``). ``amount`` is a further condition on the limit.
    """
    slices = sorted({f"{name.partition('/')[0]}/mig-" for name in names})
    sliced = " || ".join([f"name in {list(names)}", *(f"name.startsWith('{prefix}')" for prefix in slices)])
    return (
        f"({spec}.containers + {spec}.?initContainers.orValue([])).exists(container,"
        f" container.?resources.?limits.orValue({{}}).exists(name, ({sliced}){amount}))"
    )


_ROLE_NEUTRAL: Final = (LabelKey.LIFECYCLE.value, WellKnownLabel.ARCH.value, WellKnownLabel.OS.value)
"""Node labels whose values say nothing about a pool's role. Any other may belong to a pool of another role."""


def _chooses_only(keys: Iterable[str]) -> str:
    """Return the expression: neither the node selector nor the required node affinity has any other key."""
    listed = "[" + ", ".join(f"'{key}'" for key in keys) + "]"
    return (
        f"variables.spec.?nodeSelector.orValue({{}}).all(key, key in {listed})"
        f" && variables.terms.all(term, term.?matchExpressions.orValue([]).all(demand, demand.key in {listed}))"
    )


def _chooses(keys: Iterable[str]) -> str:
    """Return the expression: the node selector, or a term of the required node affinity, has one of the keys."""
    listed = "[" + ", ".join(f"'{key}'" for key in keys) + "]"
    return (
        f"({listed}.exists(key, key in variables.spec.?nodeSelector.orValue({{}}))"
        f" || variables.terms.exists(term, term.?matchExpressions.orValue([]).exists(demand, demand.key in {listed})))"
    )


CHOICE_VARIABLES: Final = {
    "spec": "variables.template.spec",
    "terms": "variables.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution"
    ".?nodeSelectorTerms.orValue([])",
    "chosen": f"variables.spec.?nodeName.orValue('') != '' || {_chooses(PLACE_KEYS)}",
    "lifecycle": _chooses([LabelKey.LIFECYCLE]),
    "initial": f"variables.spec.?nodeSelector['{LabelKey.ROLE}'].orValue('') == '{PoolRole.INITIAL}'",
}
"""Variables about what a ``template`` chooses."""


def _in(namespaces: Iterable[str]) -> str:
    return f"request.namespace in [{', '.join(repr(name) for name in namespaces)}]"


_INITIAL = f"{{'{LabelKey.ROLE}': '{PoolRole.INITIAL}'}}"


def _unless(condition: str, key: str, value: str) -> str:
    """Return the entry of a map in CEL that is left out if the condition holds."""
    return f"?'{key}': {condition} ? optional.none() : optional.of('{value}')"


_OLD: Final = (
    "request.operation == 'CREATE' ? {} : has(dyn(oldObject).spec.jobTemplate)"
    " ? dyn(oldObject).spec.jobTemplate.spec.template : dyn(oldObject).spec.?template.orValue({})"
)
"""Expression for the template before the request."""

WHY_CORE: Final = "core service, because its author may use coreservices.igz-clusters.io"
WHY_USER: Final = "user work, because it chose no place"
"""Values of the annotation ``PLACED_BY``."""


def placement_variables(placement: Placement) -> dict[str, str]:
    """Return the variables of the mutation; each may use those before it."""
    user = [f"'{LabelKey.USER_WORKLOADS}': '{TRUE}'"]
    if placement.has_untainted_spot:
        user.append(_unless("variables.lifecycle", LabelKey.LIFECYCLE, Lifecycle.ON_DEMAND.label_value))
    if placement.job_role:
        has_needs = f"{uses_gpu('variables.spec', placement.gpu_resources)} || !({_chooses_only(_ROLE_NEUTRAL)})"
        user.append(_unless(has_needs, LabelKey.ROLE, placement.job_role))
    undecided = f"!('{LabelKey.CORE_SERVICE}' in variables.metadata.?labels.orValue({{}}))"
    return {
        **TEMPLATE_VARIABLES,
        "path": "has(dyn(object).spec.jobTemplate) ? '/spec/jobTemplate/spec/template'"
        " : has(dyn(object).spec.template) ? '/spec/template' : ''",
        **CHOICE_VARIABLES,
        "old": _OLD,
        # An update does not make a template a core service: another user may have written it.
        "isOwn": "request.operation == 'CREATE'"
        f" || variables.old.?metadata.?labels['{LabelKey.CORE_SERVICE}'].orValue('') == '{TRUE}'",
        "becomesCore": f"{undecided} && variables.isOwn && {_in(placement.core_namespaces)}"
        f" && (variables.initial || !variables.chosen && !variables.lifecycle) && {MAY_USE_CORE_SERVICES}",
        "isCore": "variables.core || variables.becomesCore",
        # The DaemonSet controller itself sets an affinity that chooses the nodes.
        "given": "variables.chosen || request.resource.resource == 'daemonsets' ? {}"
        f" : variables.isCore ? {_INITIAL} : {{{', '.join(user)}}}",
    }


def placement_patches(placement: Placement) -> str:
    """Return the expression for the JSON patches, using ``placement_variables``.

    It is one expression, because the API server drops empty maps between two mutations.
    """
    marks = [f"variables.becomesCore ? {set_entry('metadata', 'labels', LabelKey.CORE_SERVICE, repr(TRUE))} : []"]
    if placement.core_class:
        # The Priority plug-in runs again after a mutation and refuses the number that it set before there was a class.
        old = [
            f"(has(variables.spec.{field}) ? [JSONPatch{{op: 'remove', path: variables.path + '/spec/{field}'}}] : [])"
            for field in ("priority", "preemptionPolicy")
        ]
        new = (
            "[JSONPatch{op: 'add', path: variables.path + '/spec/priorityClassName',"
            f" value: '{placement.core_class}'}}]"
        )
        lacks = f"{_in(placement.core_namespaces)} && variables.spec.?priorityClassName.orValue('') == ''"
        marks.append(f"variables.isCore && {lacks} ? {' + '.join([*old, new])} : []")
    place = (
        f"variables.given.size() > 0 ? {_ensured('spec', 'nodeSelector')}"
        " + variables.given.map(key, JSONPatch{op: 'add', path: variables.path + '/spec/nodeSelector/'"
        " + jsonpatch.escapeKey(key), value: variables.given[key]}) : []"
    )
    why = f"variables.isCore ? '{WHY_CORE}' : '{WHY_USER}'"
    note = (
        "variables.given.size() > 0 || variables.becomesCore"
        f" ? {set_entry('metadata', 'annotations', AnnotationKey.PLACED_BY, why)} : []"
    )
    return " + ".join(f"({part})" for part in (place, *marks, note))


def _ensured(parent: str, field: str) -> str:
    inside = f"/{parent}/{field}"
    return (
        f"(variables.template.?{parent}.?{field}.hasValue() ? []"
        f" : [JSONPatch{{op: 'add', path: variables.path + '{inside}', value: {{}}}}])"
    )


def set_entry(parent: str, field: str, key: str, value: str) -> str:
    """Return the expression for patches that set an entry of a map in the template, such as of its annotations."""
    path = f"variables.path + '/{parent}/{field}/' + jsonpatch.escapeKey('{key}')"
    return f"{_ensured(parent, field)} + [JSONPatch{{op: 'add', path: {path}, value: {value}}}]"


TEMPLATE_IS_NEW: Final = (
    "request.operation == 'CREATE'"
    " || dyn(object).spec.?template.orValue({}) != dyn(oldObject).spec.?template.orValue({})"
    " || dyn(object).spec.?jobTemplate.orValue({}) != dyn(oldObject).spec.?jobTemplate.orValue({})"
)
"""True unless an update does not change the template of a controller."""

NOTICE_VARIABLES: Final = {
    **TEMPLATE_VARIABLES,
    "old": _OLD,
    "why": f"variables.metadata.?annotations['{AnnotationKey.PLACED_BY}'].orValue('')",
    "known": f"variables.old.?metadata.?annotations['{AnnotationKey.PLACED_BY}'].orValue('')",
}
"""Variables of the notice; each may use those before it."""

NOTICE: Final = (
    f"'igz-clusters placed it as ' + variables.why + '. To choose a place, set nodeSelector {LabelKey.ROLE}"
    f" (workload, jupyter, gpu) in the pod template; core services carry the label {LabelKey.CORE_SERVICE}."
    f" The annotation {AnnotationKey.PLACED_BY} records this.'"
)
"""Expression for the warning about a place that was added."""


def settled(placement: Placement) -> str:
    """Return the expression: the author of this pod or template may install core services, and so choose any place.

    Pods and controllers that the cluster's own controllers create were checked at their owner. Owner references count
    only in requests of these controllers, because other users can write any owner reference.
    """
    kinds = ", ".join(f"'{kind}'" for kind in _OWNERS)
    owned = (
        "dyn(object).metadata.?ownerReferences.orValue([])"
        f".exists(owner, owner.?controller.orValue(false) && owner.kind in [{kinds}])"
    )
    return f"{_in(placement.core_namespaces)} && ({BY_THE_CLUSTER} ? {owned} : {MAY_USE_CORE_SERVICES})"


def excused(checks: Iterable[Check], placement: Placement) -> tuple[dict[str, str], tuple[Check, ...]]:
    """Return checks of pods' lifecycles, except for pods whose author may choose any place, and their variables.

    Pods that select user pools are not excused: every user may create their controllers.
    """
    checks = tuple(checks)
    if placement.mutates or not checks:
        return {}, checks
    excuse = "variables.settled && (variables.initial || !variables.chosen)"
    needed = {"template": "object", **CHOICE_VARIABLES, "settled": settled(placement)}
    return needed, tuple(Check(f"{excuse} || ({check.expression})", check.message) for check in checks)


_OWNERS: Final = ("CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet")
