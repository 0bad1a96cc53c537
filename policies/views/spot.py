"""Whether a pod may run on spot nodes, in Python (``may_run_on_spot``) and in CEL."""

from typing import Final

from components.contract.clusters import SPOT_TAINTS
from components.contract.labels import RESTART_PLAN_PATTERN, AnnotationKey, LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint
from policies.cel import EXPRESSIONS, TERMS, TOLERATIONS, VALUES, every_term, selected
from policies.values import Value, some
from policies.views.node_choice import terms, tolerations
from policies.views.pods import PodFacts


def may_run_on_spot(pod: PodFacts) -> bool:
    """Return whether the pod's author lets it run on spot nodes: by selector, affinity or toleration.

    Where spot nodes have no taint, other pods may run there too; the admission guard covers them.
    """
    if chosen := pod.selected(LabelKey.LIFECYCLE):
        return chosen == Lifecycle.SPOT.label_value
    choices = terms(pod)
    if choices and all(_says_of_spot(term, wanted=False) for term in choices):
        return False
    if some(choices, lambda term: _says_of_spot(term, wanted=True)):
        return True
    return some(tolerations(pod), lambda entry: any(tolerates(entry, taint) for taint in SPOT_TAINTS))


def has_restart_plan(pod: PodFacts) -> bool:
    """Return whether the pod's annotation says in an allowed form how lost work is restarted."""
    return pod.metadata.at("annotations", AnnotationKey.RESTART_PLAN.value).matches(RESTART_PLAN_PATTERN)


def tolerates(entry: Value, taint: Taint) -> bool:
    """Return whether the entry of a pod's ``tolerations`` matches ``taint``."""
    key, exists = entry.at("key").text() or "", entry.at("operator").text() == "Exists"
    if key != taint.key and (key or not exists):
        return False
    if (entry.at("effect").text() or taint.effect) != taint.effect:
        return False
    return exists or entry.at("value").text() == taint.value


def makers(pod: PodFacts) -> set[str]:
    """Return the kinds of the objects that create the pod, itself included."""
    owners = pod.metadata.at("ownerReferences").elements()
    return {pod.kind, *(owner.at("kind").text() or "" for owner in owners)}


def _says_of_spot(term: Value, *, wanted: bool) -> bool:
    """Return whether a term of the required node affinity selects spot nodes (``wanted``) or excludes them."""
    return some(term.at("matchExpressions").elements(), lambda expression: _demands(expression) is wanted)


def _demands(expression: Value) -> bool | None:
    if expression.at("key").text() != LabelKey.LIFECYCLE:
        return None
    operator = expression.at("operator").text()
    if operator not in ("In", "NotIn"):
        return None
    named = some(expression.at("values").elements(), lambda value: value.text() == Lifecycle.SPOT.label_value)
    if operator == "NotIn":
        return False if named else None
    return named


def made_by(kinds: tuple[str, ...]) -> str:
    """Return the CEL expression that is true if one of ``kinds`` creates the pod."""
    owners = "variables.metadata.?ownerReferences.orValue([])"
    return f"(object.kind in {list(kinds)} || {owners}.exists(o, o.kind in {list(kinds)}))"


def _cel() -> str:
    key, spot = LabelKey.LIFECYCLE, Lifecycle.SPOT.label_value
    named = f"'{spot}' in {VALUES}"
    demands = f"demand.key == '{key}' && demand.operator == 'In' && {named}"
    excludes = (
        f"demand.key == '{key}' && (demand.operator == 'In' && !({named}) || demand.operator == 'NotIn' && {named})"
    )
    answers = " || ".join(_tolerates_cel(taint) for taint in SPOT_TAINTS)
    return (
        f"({selected(key)} == '{spot}' || {selected(key)} == '' && !{every_term(excludes)}"
        f" && ({TERMS}.exists(term, {EXPRESSIONS}.exists(demand, {demands}))"
        f" || {TOLERATIONS}.exists(toleration, {answers})))"
    )


def _tolerates_cel(taint: Taint) -> str:
    key, exists = "toleration.?key.orValue('')", "toleration.?operator.orValue('') == 'Exists'"
    return (
        f"({key} == '{taint.key}' || {key} == '' && {exists})"
        f" && toleration.?effect.orValue('') in ['', '{taint.effect}']"
        f" && ({exists} || toleration.?value.orValue('') == '{taint.value}')"
    )


HAS_RESTART_PLAN: Final = (
    f"variables.metadata.?annotations['{AnnotationKey.RESTART_PLAN}'].orValue('').matches('{RESTART_PLAN_PATTERN}')"
)
"""The CEL of ``has_restart_plan``."""

MAY_RUN_ON_SPOT: Final = _cel()
"""The CEL of ``may_run_on_spot``, with the variables of ``policies.rule.Admission``."""
