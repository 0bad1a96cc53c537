"""HK-11: pods are created by controllers, which replace them when a node dies."""

import re
from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.values import some
from policies.views.pods import PODS, PodFacts, pods


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require a controller. Not applied at admission: MLRun starts bare pods by design."""
    owners = pod.metadata.at("ownerReferences").elements()
    if not some(owners, lambda owner: owner.at("controller").flag() is True):
        yield Finding(f"{pod} belongs to no controller; expected a Deployment, StatefulSet or Job.")


RULE = Rule(
    id="HK-11",
    slug="pods-have-a-controller",
    title="Pods must belong to a controller",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Kyverno policies, prevent-bare-pods",
    applies_to=EachOf(
        noun="each pod that the program creates directly, outside the system's namespaces",
        types=re.compile("kubernetes:core/v1:Pod"),
        find=pods,
        concerns=PODS.concerns,
    ),
    why="A bare pod is not recreated when its node dies, and it blocks the autoscaler from removing the node.",
    fix="Declare a Deployment, StatefulSet or Job with this pod as its template.",
    check=check,
)
