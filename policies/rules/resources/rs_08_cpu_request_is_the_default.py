"""RS-08: CPU requests stay at the namespace's default."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import each, some
from policies.views.namespaces import LIMIT_RANGE, default_in
from policies.views.objects import ByNamespace, by_namespace, namespace_of
from policies.views.pods import user_work
from policies.views.scaling import AutoscalerFacts, autoscalers, nuclio_function
from policies.views.volume_claims import containers, is_guaranteed


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Recommend the namespace's default CPU request, unless the pod is guaranteed or scales by CPU utilization."""
    ranges, scalers = by_namespace(stack, LIMIT_RANGE), autoscalers(stack)
    yield from each(stack, lambda resource: _check(resource, ranges, scalers, context))


def _check(
    resource: Resource, ranges: ByNamespace, scalers: list[AutoscalerFacts], context: Context
) -> Iterator[Finding]:
    for pod in user_work(resource, context):
        common = default_in(ranges(namespace_of(resource)), "requests", "cpu")
        usual = common.quantity() if common else None
        odd = [claims for claims in containers(pod) if claims.request("cpu") not in (None, usual)] if common else []
        if common and odd and not is_guaranteed(pod) and not _is_scaled(resource, scalers):
            for claims in odd:
                message = (
                    f"{pod}: {claims} has {claims.spelled('cpu')}; expected the namespace's {common.quantity_text()}."
                )
                yield Finding(message, urn=resource.urn)


def _is_scaled(resource: Resource, scalers: list[AutoscalerFacts]) -> bool:
    if any(function.scales_on_cpu for function in nuclio_function(resource)):
        return True
    return some(scalers, lambda scaler: scaler.scales(resource) and any(n == "cpu" for n, _ in scaler.percentages()))


RULE = Rule(
    id="RS-08",
    slug="cpu-request-is-the-default",
    title="CPU requests should stay at the namespace's default",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Requests and Limits (CPU)",
    applies_to=WholeStack(),
    why="Requests divide CPU time on a busy node, so a higher request takes CPU from other users.",
    fix="Remove the CPU request, set requests equal to limits, or scale by CPU utilization.",
    check=check,
)
