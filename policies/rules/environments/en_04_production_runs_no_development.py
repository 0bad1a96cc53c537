"""EN-04: workloads labelled as development do not run in production."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.cel import culprit, label, words
from policies.resource import Resource
from policies.rule import Admission, Context, EachOf, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts, pods
from policies.views.type_tokens import NAMESPACE

KEYS: Final = ("environment", "env")
"""Labels that commonly name an environment."""

DEVELOPMENT: Final = (Environment.DEV.value, "development")
"""Values of these labels that mean development."""


def namespaces_and_pods(resource: Resource) -> Iterator[PodFacts]:
    """Return the pods that a resource creates; a namespace counts for its future pods."""
    if resource.type == NAMESPACE:
        yield PodFacts(resource, resource.props.at("metadata"), resource.props.at("spec"))
    yield from pods(resource)


def check(labelled: PodFacts, _: Context) -> Iterator[Finding]:
    """Reject labels that say development."""
    for key in KEYS:
        if (value := labelled.label(key)) in DEVELOPMENT:
            yield Finding(f"{labelled} is labelled {key}: {value}; expected no development work in production.")


RULE = Rule(
    id="EN-04",
    slug="production-runs-no-development",
    title="A production cluster must not run development work",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Node Groups",
    applies_to=EachOf(
        noun="each namespace and each pod of user work",
        types=re.compile(f"{NAMESPACE}|{USER_PODS.types.pattern}"),
        find=namespaces_and_pods,
        concerns=lambda labelled, context: labelled.kind == "Namespace" or labelled.is_user_work(context),
    ),
    why="Experiments compete with production work for resources and access.",
    fix="Run it on the development cluster; if the label is wrong, correct it.",
    check=check,
    admission=Admission(
        culprits=" + ".join(
            culprit(f"{label(key)} in {words(DEVELOPMENT)}", f"'label {key}: ' + {label(key)}") for key in KEYS
        ),
    ),
)
