"""HK-03: user namespaces deny network traffic by default."""

from collections.abc import Iterator
from enum import StrEnum
from functools import partial

from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import some
from policies.views.namespaces import is_user_namespace
from policies.views.objects import name_of, namespace_of
from policies.views.selectors import selects_everything

NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"


class Direction(StrEnum):
    """A policy type, as the Kubernetes API spells it."""

    INGRESS = "Ingress"
    EGRESS = "Egress"


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require, for each user namespace, a policy that selects all pods and allows nothing."""
    policies = [resource for resource in stack if resource.type == NETWORK_POLICY]
    for namespace in stack:
        if not is_user_namespace(namespace):
            continue
        name = name_of(namespace)
        for direction in Direction:
            if not some(policies, partial(_denies, name, direction)):
                yield Finding(
                    f"Namespace '{name}' has no network policy that denies all {direction.lower()}; expected one.",
                    urn=namespace.urn,
                )


def _denies(namespace: str, direction: Direction, policy: Resource) -> bool:
    spec = policy.props.at("spec")
    types = [element.text() for element in spec.at("policyTypes").elements()]
    return (
        namespace_of(policy) == namespace
        # A policy without types applies to ingress; also to egress if it has egress rules, but then it allows some.
        and direction in (types or [Direction.INGRESS])
        and selects_everything(spec.at("podSelector"))
        and not spec.at(direction.lower()).elements()
    )


RULE = Rule(
    id="HK-03",
    slug="user-namespaces-deny-by-default",
    title="User namespaces must deny network traffic by default",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 4.3.2; EKS best practices, security (network policy)",
    applies_to=WholeStack(),
    why="Otherwise any user's pod can reach every other pod, databases and the cloud's metadata service.",
    fix="Add a NetworkPolicy with podSelector: {} and both policyTypes, as components/scheduling/namespaces.py does.",
    check=check,
)
