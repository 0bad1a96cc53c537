"""JU-01: idle Jupyter services release their GPU."""

import re
from collections.abc import Iterator
from functools import partial

from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import some
from policies.views.jupyter import app_services, is_gpu_notebook
from policies.views.pods import pods
from policies.views.scaling import HORIZONTAL_POD_AUTOSCALER, AutoscalerFacts, targets
from policies.views.type_tokens import SERVICES

_SCALED_OBJECT = re.compile(r"kubernetes:keda\.sh/v1alpha1:ScaledObject")


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require a scaler that stops each idle Jupyter service with a GPU."""
    for resource in stack:
        for service in app_services(resource):
            if service.kind == "jupyter" and service.has_gpu and not service.scales_to_zero:
                found = "no scale_to_zero with mode enabled and a metric"
                yield Finding(f"Jupyter {service} has a GPU and {found}; expected one.", urn=resource.urn)
        if _has_gpu_notebook(resource) and not some(stack, partial(_scales_to_zero, resource)):
            kind = resource.type.rpartition(":")[2]
            found = "no ScaledObject or HorizontalPodAutoscaler with a minimum of 0 replicas"
            yield Finding(f"Jupyter {kind} '{resource.name}' has a GPU and {found}; expected one.", urn=resource.urn)


def _has_gpu_notebook(resource: Resource) -> bool:
    return re.fullmatch(SERVICES, resource.type) is not None and any(map(is_gpu_notebook, pods(resource)))


def _scales_to_zero(service: Resource, scaler: Resource) -> bool:
    if _SCALED_OBJECT.fullmatch(scaler.type):
        # KEDA's default minimum is 0.
        smallest = scaler.props.at("spec", "minReplicaCount").integer() or 0
    elif HORIZONTAL_POD_AUTOSCALER.fullmatch(scaler.type):
        smallest, _ = AutoscalerFacts(scaler).replicas
    else:
        return False
    return smallest == 0 and targets(scaler, service)


RULE = Rule(
    id="JU-01",
    slug="gpu-jupyter-scales-to-zero",
    title="A Jupyter service with a GPU must scale to zero when idle",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Jupyter Service and GPUs",
    applies_to=WholeStack(),
    why="An idle notebook otherwise occupies a GPU machine around the clock.",
    fix="Enable scale_to_zero in the platform's service; elsewhere add a KEDA ScaledObject with minReplicaCount 0.",
    check=check,
)
