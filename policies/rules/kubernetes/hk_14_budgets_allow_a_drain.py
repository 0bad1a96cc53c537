"""HK-14: disruption budgets let an upgrade drain a node."""

import re
from collections.abc import Iterable, Iterator, Sequence

from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import NotJudgeableError, Value
from policies.views.budgets import guards
from policies.views.objects import namespace_of
from policies.views.pods import PodFacts, pods
from policies.views.scaling import AutoscalerFacts, autoscalers, fewest_replicas
from policies.views.type_tokens import DISRUPTION_BUDGET, SERVICES


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Reject budgets that allow no disruption, and pods with several budgets, which Kubernetes never evicts."""
    budgets = [resource for resource in stack if resource.type == DISRUPTION_BUDGET]
    controllers = [resource for resource in stack if re.fullmatch(SERVICES, resource.type)] if budgets else []
    services = [(resource, pod) for resource in controllers for pod in pods(resource)]
    scalers = autoscalers(stack) if budgets else []
    for budget in budgets:
        if problem := _problem(budget, services, scalers):
            yield Finding(f"PodDisruptionBudget '{budget.name}' has {problem}.", urn=budget.urn)
    for resource, pod in services:
        beside = [budget for budget in budgets if namespace_of(budget) == pod.namespace]
        own = [budget.name for budget in beside if guards(budget, pod)] if len(beside) > 1 else []
        if len(own) > 1:
            yield Finding(f"{pod} has the PodDisruptionBudgets {', '.join(own)}; expected one.", urn=resource.urn)


def _problem(
    budget: Resource, services: Iterable[tuple[Resource, PodFacts]], scalers: Sequence[AutoscalerFacts]
) -> str:
    """Return what makes a budget allow no disruption; empty if it allows one."""
    spec = budget.props.at("spec")
    most, least = (spec.at(key).quantity_text() for key in ("maxUnavailable", "minAvailable"))
    if most in ("0", "0%"):
        return f"maxUnavailable {most}; expected at least 1"
    if least is None:
        return ""
    # Any number of pods may be behind a selector that selects no service of the stack.
    replicas = sum(_or_one(fewest_replicas(resource, scalers)) for resource, pod in services if guards(budget, pod))
    if not replicas:
        return f"minAvailable {least}; expected less" if least == "100%" else ""
    if _of(spec.at("minAvailable"), least, replicas) >= replicas:
        return f"minAvailable {least} of {replicas} replicas; expected fewer"
    return ""


def _or_one(replicas: int | None) -> int:
    return 1 if replicas is None else replicas


def _of(value: Value, text: str, replicas: int) -> int:
    """Return a number or a share of pods, rounded up as Kubernetes does."""
    if not re.fullmatch(r"\d+%?", text, re.ASCII):
        raise NotJudgeableError(value.path, "is neither a number nor a share")
    return -(-int(text[:-1]) * replicas // 100) if text.endswith("%") else int(text)


RULE = Rule(
    id="HK-14",
    slug="budgets-allow-a-drain",
    title="Disruption budgets must allow at least one eviction",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="EKS best practices, reliability (applications)",
    applies_to=WholeStack(noun="PodDisruptionBudgets, with the Deployments and StatefulSets that they select"),
    why="An upgrade drains every node: a pod that is never evicted stops it halfway, on EKS after 15 minutes.",
    fix="Set maxUnavailable to 1 or more, or minAvailable below the replicas; delete all but one budget of a pod.",
    check=check,
)
