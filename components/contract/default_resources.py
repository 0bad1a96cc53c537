"""Requests and limits that the API server completes from Kubernetes 1.36 on, in CEL.

A LimitRange sets the default of a limit regardless of the author's request, and Kubernetes refuses a limit below the
request. Therefore LimitRanges set requests only, and a mutation adds limits in proportion to the request.
"""

from decimal import Decimal
from typing import Final

from components.contract.environments import Environment
from components.contract.labels import AnnotationKey
from components.contract.placement import BY_THE_CLUSTER, TEMPLATE_IS_NEW, Placement, placement_variables, set_entry
from components.contract.pod_resources import PodResources
from components.contract.policy_choices import AdmissionMode
from components.contract.quantities import parse_quantity

LIMIT_RANGER: Final = "kubernetes.io/limit-ranger"
"""Annotation of pods that got a LimitRange's defaults."""

BUILD_LABEL: Final = ("mlrun/class", "build")
"""Label of the pods in which MLRun builds images: mlrun 1.12.1 ``mlrun/utils/helpers.py``."""

BUILD_CONTAINER: Final = "kaniko-executor"
"""Container of Nuclio's builds, whose pods have no label: nuclio ``pkg/containerimagebuilderpusher/kaniko.go``."""

IS_BUILD: Final = (
    f"(variables.metadata.?labels['{BUILD_LABEL[0]}'].orValue('') == '{BUILD_LABEL[1]}'"
    f" || variables.spec.containers.exists(each, each.name == '{BUILD_CONTAINER}'))"
)
"""True for image builds: the memory they need depends on the image, so MLRun and Nuclio set no limits on purpose."""

COMPLETED: Final = {
    # Their templates must stay like those of their owners; pods are completed for every author.
    "pod-or-by-people": f"request.resource.resource == 'pods' || !({BY_THE_CLUSTER})",
    "template-is-new": TEMPLATE_IS_NEW,
}
"""Conditions by name under which resources are completed."""


def limit_range_gives_limits(environment: Environment, admission: AdmissionMode, *, mutates: bool) -> bool:
    """Return whether LimitRanges must set limits: RS-01 requires them, and nothing else adds them."""
    return environment is Environment.PROD and admission is AdmissionMode.DENY and not mutates


def completion_variables(defaults: PodResources, placement: Placement) -> dict[str, str]:
    """Return the variables of the mutation; each may use those before it."""
    return {
        **placement_variables(placement),
        "isPod": "request.resource.resource == 'pods'",
        "isBuild": IS_BUILD,
        "hasDefaults": f"variables.metadata.?annotations['{LIMIT_RANGER}'].orValue('') != ''",
        "changes": " + ".join(_changes(kind, defaults) for kind in ("containers", "initContainers")),
    }


def completion_patches() -> str:
    """Return the expression for the JSON patches, using ``completion_variables``.

    It is one expression, because the API server drops empty maps between two mutations.
    """
    maps = " + ".join(_maps(kind) for kind in ("containers", "initContainers"))
    values = "variables.changes.map(each, JSONPatch{op: 'add', path: variables.path + each.path, value: each.value})"
    what = "variables.changes.map(each, each.what).join(', ')"
    note = set_entry("metadata", "annotations", AnnotationKey.COMPLETED, what)
    return f"variables.changes.size() == 0 ? [] : {maps} + {values} + {note}"


def _maps(kind: str) -> str:
    """Return the expression for patches that add empty maps, to which values can be added."""
    empty = (
        f"(c.?{field.replace('/', '.?')}.hasValue() ? [] : [JSONPatch{{op: 'add',"
        f" path: variables.path + '/spec/{kind}/' + string(i) + '/{field}', value: {{}}}}])"
        for field in ("resources", "resources/requests", "resources/limits")
    )
    return f"variables.spec.?{kind}.orValue([]).transformList(i, c, {' + '.join(empty)}).flatten()"


def _changes(kind: str, defaults: PodResources) -> str:
    each = (part for name in ("cpu", "memory") for part in _changes_of(kind, name, defaults))
    return f"variables.spec.?{kind}.orValue([]).transformList(i, c, {' + '.join(each)}).flatten()"


def _changes_of(kind: str, name: str, defaults: PodResources) -> tuple[str, str]:
    """Return the expressions for the new limit and the new request of a container ``c``; empty lists for none."""
    default_request, default_limit = getattr(defaults.requests, name), getattr(defaults.limits, name)
    request, limit = f"c.?resources.?requests['{name}']", f"c.?resources.?limits['{name}']"

    def is_amount(value: str, amount: str) -> str:
        return f"quantity({value}.value()).compareTo(quantity('{amount}')) == 0"

    of_pod = (f"variables.spec.?resources.?{side}['{name}'].hasValue()" for side in ("requests", "limits"))
    joint = f"({' || '.join(of_pod)})"
    one_sided = f"variables.isPod && {request}.hasValue() && !{limit}.hasValue()"
    exceeds = (
        f"{request}.hasValue() && {limit}.hasValue()"
        f" && quantity({request}.value()).isGreaterThan(quantity({limit}.value()))"
    )
    # If request and limit contradict each other, the default one is changed: MLRun writes both.
    lacks_limit = f"({one_sided} && !variables.isBuild && !{joint}) || ({exceeds} && {is_amount(limit, default_limit)})"
    # Kubernetes refuses pods whose containers request more than the pod as a whole.
    too_much = f"{one_sided} && {joint} && variables.hasDefaults && {is_amount(request, default_request)}"
    yields = f"{exceeds} && {is_amount(request, default_request)}"
    new_limit = _in_proportion(f"{request}.value()", name, default_request, default_limit)
    new_request = f"({too_much} ? '0' : string({limit}.value()))"
    return (
        f"({lacks_limit} ? [{_change(kind, 'limits', name, new_limit)}] : [])",
        f"(({too_much}) || ({yields}) ? [{_change(kind, 'requests', name, new_request)}] : [])",
    )


def _change(kind: str, side: str, name: str, value: str) -> str:
    path = f"'/spec/{kind}/' + string(i) + '/resources/{side}/{name}'"
    return f"{{'path': {path}, 'value': {value}, 'what': string(c.name) + ' {side}.{name}'}}"


def _in_proportion(request: str, name: str, default_request: str, default_limit: str) -> str:
    """Return the expression for the limit that is to a request as the default limit is to the default request.

    Charts of core services request little and set no limit: their limit is at least the default.
    """
    ratio = parse_quantity(default_limit) / parse_quantity(default_request)
    if ratio == 1:
        scaled = f"string({request})"
    elif name == "cpu":
        scaled = f"string({_rounded(request, ratio * 1000)}) + 'm'"
    else:
        mebibytes = f"{_rounded(request, ratio)} % {2**20} == 0 ? string({_rounded(request, ratio / 2**20)}) + 'Mi'"
        scaled = f"{mebibytes} : string({_rounded(request, ratio)})"
    least = (
        f"quantity({request}).isLessThan(quantity('{default_request}'))"
        f" && (variables.isCore || quantity({request}).compareTo(quantity('0')) == 0)"
    )
    return f"({least} ? '{default_limit}' : {scaled})"


def _rounded(request: str, factor: Decimal) -> str:
    # Rounded up, as in Kubernetes: a limit of 0 would be below the request.
    return f"int(quantity({request}).asApproximateFloat() * {float(factor)!r} + 0.999)"
