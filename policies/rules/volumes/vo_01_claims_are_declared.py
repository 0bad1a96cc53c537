"""VO-01: what a pod mounts is there before the pod."""

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
    """Demand a claim of the same stack for each that a pod mounts."""
    claims = [resource for resource in stack if _CLAIM.fullmatch(resource.type)]
    for resource in stack:
        for pod in pods(resource):
            for volume in pod.spec.at("volumes").elements():
                name = volume.at("persistentVolumeClaim", "claimName").text()
                if name and not pod.is_system() and not some(claims, partial(_is_claim, pod.namespace, name)):
                    yield Finding(f"{pod} mounts the claim {name}, wanted one of this stack.", urn=resource.urn)


def _is_claim(namespace: str, name: str, claim: Resource) -> bool:
    return (namespace_of(claim), claim.props.at("metadata", "name").text()) == (namespace, name)


RULE = Rule(
    id="VO-01",
    slug="claims-are-declared",
    title="Claims that pods mount are made by the same stack",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="MLRun job resources, Volumes (PVC)",
    applies_to=WholeStack(),
    why="A pod whose claim does not exist is never started.",
    fix="Declare the PersistentVolumeClaim in the stack, in the pod's namespace.",
    check=check,
)
