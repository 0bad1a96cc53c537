"""HK-10: core services survive the loss or drain of one node."""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import some
from policies.views.budgets import guards
from policies.views.pods import PodFacts, pods
from policies.views.scaling import AutoscalerFacts, autoscalers, fewest_replicas
from policies.views.type_tokens import DISRUPTION_BUDGET, SERVICES

LEAST = 2
PROBES = ("livenessProbe", "readinessProbe")
SPREADS = (
    ("topologySpreadConstraints",),
    ("affinity", "podAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution"),
    ("affinity", "podAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution"),
)
"""Fields of a pod's spec that spread replicas over nodes."""


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require two replicas on different nodes, with probes and a disruption budget."""
    controllers = [resource for resource in stack if re.fullmatch(SERVICES, resource.type)]
    services = [
        (resource, pod) for resource in controllers for pod in pods(resource) if pod.is_core_service or pod.is_system()
    ]
    scalers = autoscalers(stack) if services else []
    for resource, pod in services:
        yield from (Finding(f"{pod} {lack}.", urn=resource.urn) for lack in _own_lacks(resource, pod, scalers))
    budgets = [resource for resource in stack if resource.type == DISRUPTION_BUDGET]
    for resource, pod in services:
        if not some(budgets, partial(guards, pod=pod)):
            yield Finding(f"{pod} has no PodDisruptionBudget in its namespace; expected one.", urn=resource.urn)


def _own_lacks(resource: Resource, pod: PodFacts, scalers: Sequence[AutoscalerFacts]) -> Iterator[str]:
    replicas = fewest_replicas(resource, scalers)
    if replicas is None or replicas < LEAST:
        found = "none, which means 1" if replicas is None else replicas
        yield f"has replicas {found}; expected {LEAST} or more"
    if not some(SPREADS, lambda path: bool(pod.spec.at(*path).elements())):
        yield "may run all its pods on one node; expected topologySpreadConstraints or podAntiAffinity"
    for container in pod.spec.at("containers").elements():
        missing = [probe for probe in PROBES if container.at(probe).is_absent]
        if missing:
            yield f"has no {' and no '.join(missing)} in {container.path}; expected both probes"


RULE = Rule(
    id="HK-10",
    slug="core-services-survive-a-node",
    title="Core services must have two replicas, spread over nodes, with probes and a disruption budget",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.MANDATORY},
    source="EKS best practices, reliability (applications)",
    applies_to=WholeStack(noun="Deployments and StatefulSets of core services, and of system namespaces"),
    why="An upgrade drains every node in turn: a service with one replica, or all on one node, goes down.",
    fix="Set replicas, topologySpreadConstraints, both probes, and add a PodDisruptionBudget.",
    check=check,
)
