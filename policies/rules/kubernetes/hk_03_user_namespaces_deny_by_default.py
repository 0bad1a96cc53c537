"""HK-03: pods of users reach, and are reached by, only what somebody allowed."""

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
    """A type of network policy, in the API's word."""

    INGRESS = "Ingress"
    EGRESS = "Egress"


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand, for each namespace with the mark of user work, a policy of all its pods that allows nothing."""
    policies = [resource for resource in stack if resource.type == NETWORK_POLICY]
    for namespace in stack:
        if not is_user_namespace(namespace):
            continue
        name = name_of(namespace)
        for direction in Direction:
            if not some(policies, partial(_denies, name, direction)):
                yield Finding(
                    f"Namespace '{name}' has no network policy that denies all {direction.lower()}, wanted one.",
                    urn=namespace.urn,
                )


def _denies(namespace: str, direction: Direction, policy: Resource) -> bool:
    spec = policy.props.at("spec")
    types = [element.text() for element in spec.at("policyTypes").elements()]
    return (
        namespace_of(policy) == namespace
        # A policy that names no type is one of ingress; of egress too, if it has rules for it, but then it allows some.
        and direction in (types or [Direction.INGRESS])
        and selects_everything(spec.at("podSelector"))
        and not spec.at(direction.lower()).elements()
    )


RULE = Rule(
    id="HK-03",
    slug="user-namespaces-deny-by-default",
    title="User namespaces deny all traffic that nobody allowed",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 4.3.2; EKS best practices, security (network policy)",
    applies_to=WholeStack(),
    why="Without it one user's pod can talk to every other pod, to databases and to the clouds' own addresses.",
    fix="Add a NetworkPolicy with podSelector: {} and both policyTypes, as components/scheduling/namespaces.py does.",
    check=check,
)
