"""VO-01: claims that pods mount exist."""

import re
from collections.abc import Iterator
from functools import partial

from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import some
from policies.views.objects import namespace_of
from policies.views.pods import pods

_CLAIM = re.compile(r"kubernetes:core/v1:PersistentVolumeClaim(Patch)?")


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Recommend that the stack declares each claim that a pod mounts."""
    claims = [resource for resource in stack if _CLAIM.fullmatch(resource.type)]
    for resource in stack:
        for pod in pods(resource):
            for volume in pod.spec.at("volumes").elements():
                name = volume.at("persistentVolumeClaim", "claimName").text()
                if name and not pod.is_system() and not some(claims, partial(_is_claim, pod.namespace, name)):
                    yield Finding(
                        f"{pod} mounts the claim {name}, which this stack does not declare.",
                        urn=resource.urn,
                    )


def _is_claim(namespace: str, name: str, claim: Resource) -> bool:
    return (namespace_of(claim), claim.props.at("metadata", "name").text()) == (namespace, name)


RULE = Rule(
    id="VO-01",
    slug="claims-are-declared",
    title="Claims that pods mount should be declared in the same stack",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="MLRun job resources, Volumes (PVC)",
    applies_to=WholeStack(),
    why="A pod with a missing claim never starts.",
    fix="Declare the PersistentVolumeClaim in the stack, in the pod's namespace.",
    check=check,
)
