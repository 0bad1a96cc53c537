"""HK-04: roles list their rights explicitly, so that they can be reviewed."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of

EVERYTHING: Final = "*"
ADMINISTRATOR: Final = "cluster-admin"
FIELDS: Final = ("verbs", "resources", "apiGroups", "nonResourceURLs")


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Reject roles with wildcards, and bindings to cluster-admin."""
    kind = resource.type.rpartition(":")[2]
    yield from _CHECKS[kind](resource, f"{kind} '{resource.name}'")


def _role(resource: Resource, subject: str) -> Iterator[Finding]:
    for rule in resource.props.at("rules").elements():
        for field in FIELDS:
            for element in rule.at(field).elements():
                if element.text() == EVERYTHING:
                    yield Finding(f"{subject} has {element.path} '{EVERYTHING}'; expected explicit names.")


def _binding(resource: Resource, subject: str) -> Iterator[Finding]:
    role = resource.props.at("roleRef", "name").text()
    if role == ADMINISTRATOR and resource.props.at("roleRef", "kind").text() == "ClusterRole":
        yield Finding(f"{subject} binds the role {ADMINISTRATOR}; expected a role with only the necessary rights.")


_CHECKS: Final[Mapping[str, Callable[[Resource, str], Iterator[Finding]]]] = {
    "ClusterRole": _role,
    "ClusterRoleBinding": _binding,
    "Role": _role,
    "RoleBinding": _binding,
}


RULE = Rule(
    id="HK-04",
    slug="rights-are-named",
    title="Roles must not use wildcards, and bindings must not use cluster-admin",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 4.1.1 and 4.1.3",
    applies_to=resources_of(
        "each role and each binding of one", rf"kubernetes:rbac\.authorization\.k8s\.io/v1:({'|'.join(_CHECKS)})"
    ),
    why="A wildcard also covers resources that later versions and add-ons introduce, and every Secret.",
    fix="List the verbs, resources and API groups that the account needs, and bind a role with only these.",
    check=check,
)
