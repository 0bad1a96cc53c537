"""RS-12: targets of utilization-based scaling have requests."""

from collections.abc import Iterator

from policies.resource import Resource, Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.values import each
from policies.views.namespaces import LIMIT_RANGE, default_in
from policies.views.objects import ByNamespace, by_namespace, namespace_of
from policies.views.pods import PODS, pods
from policies.views.scaling import AutoscalerFacts, autoscalers, nuclio_function
from policies.views.volume_claims import Claims, containers, whole


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require, for each target in the stack, a request for each measured resource, from the pod or its namespace."""
    ranges = by_namespace(stack, LIMIT_RANGE)
    # A resource without pods cannot be a target, and its name may not be known yet.
    makers = [resource for resource in stack if PODS.types.fullmatch(resource.type)]
    yield from each(autoscalers(stack), lambda scaler: _targets(scaler, makers, ranges))
    yield from each(stack, _functions)


def _targets(scaler: AutoscalerFacts, makers: list[Resource], ranges: ByNamespace) -> Iterator[Finding]:
    for resource in makers:
        for name, container in scaler.percentages() if scaler.scales(resource) else ():
            lacking = [] if default_in(ranges(namespace_of(resource)), "requests", name) else _lacking(resource, name)
            if found := ", ".join(str(claims) for claims in lacking if container in (None, claims.container)):
                message = f"{scaler} scales '{resource.name}' by {name} utilization, but {found} has no {name} request"
                yield Finding(f"{message}; expected a request.", urn=scaler.urn)


def _lacking(resource: Resource, name: str) -> list[Claims]:
    # Containers that only run at start are not measured.
    return [
        claims
        for pod in pods(resource)
        if whole(pod).request(name) is None
        for claims in containers(pod, "containers")
        if claims.request(name) is None
    ]


def _functions(resource: Resource) -> Iterator[Finding]:
    # Nuclio sets a request from its own configuration: enough to run, but no measure to scale by.
    for function in nuclio_function(resource):
        if function.scales_on_cpu and function.cpu_request.is_absent:
            found = f"{function} scales by CPU utilization but has no CPU request; expected one"
            yield Finding(f"{found}.", advice=True, urn=resource.urn)


RULE = Rule(
    id="RS-12",
    slug="scaling-has-a-request",
    title="Targets of utilization-based scaling must have requests",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Replicas (target utilization)",
    applies_to=WholeStack(),
    why="Utilization is measured relative to the request; without one the autoscaler never scales.",
    fix="Set the request in every container of the target, or scale by an absolute value.",
    check=check,
)
