"""HK-07: the default namespace, which has no guard, stays empty."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.pods import PODS

DEFAULT: Final = "default"
RELEASE: Final = "kubernetes:helm.sh/v3:Release"

NAMESPACED: Final = (
    PODS.types.pattern,
    "kubernetes:core/v1:(ConfigMap|PersistentVolumeClaim|Secret|Service|ServiceAccount)",
    r"kubernetes:networking\.k8s\.io/v1:(Ingress|NetworkPolicy)",
    r"kubernetes:rbac\.authorization\.k8s\.io/v1:(Role|RoleBinding)",
    re.escape(RELEASE),
)
"""Namespaced kinds that programs usually create."""


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Require another namespace; an object without one lands in the default namespace."""
    place = resource.props if resource.type == RELEASE else resource.props.at("metadata")
    namespace = place.at("namespace")
    if (namespace.text() or DEFAULT) == DEFAULT:
        kind = resource.type.rpartition(":")[2]
        found = f"namespace {DEFAULT}" + ("" if namespace.text() else f", since {namespace.path} is absent")
        yield Finding(f"{kind} '{resource.name}' goes into {found}; expected another namespace.")


RULE = Rule(
    id="HK-07",
    slug="default-namespace-is-empty",
    title="Objects must not use the default namespace",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 4.5.2",
    applies_to=resources_of("each namespaced object", *NAMESPACED),
    why="The default namespace has no default resources, quota, network policy or admission guard.",
    fix="Set metadata.namespace to one of the stack's namespaces.",
    check=check,
)
