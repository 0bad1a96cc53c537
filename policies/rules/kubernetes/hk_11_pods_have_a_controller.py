"""HK-11: a pod that the program makes itself comes back after its node is gone."""

import re
from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.values import some
from policies.views.pods import PODS, PodFacts, pods


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Demand an owner that makes the pod anew. Only here: pods that MLRun starts are bare by design."""
    owners = pod.metadata.at("ownerReferences").elements()
    if not some(owners, lambda owner: owner.at("controller").flag() is True):
        yield Finding(f"{pod} belongs to no controller, wanted a Deployment, StatefulSet or Job that makes it.")


RULE = Rule(
    id="HK-11",
    slug="pods-have-a-controller",
    title="The program makes controllers, not bare pods",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Kyverno policies, prevent-bare-pods",
    applies_to=EachOf(
        noun="each pod that the program makes itself, outside the system's namespaces",
        types=re.compile("kubernetes:core/v1:Pod"),
        find=pods,
        concerns=PODS.concerns,
    ),
    why="A bare pod dies with its node, and the autoscaler does not remove a node that holds one.",
    fix="Declare a Deployment, StatefulSet or Job with this pod as its template.",
    check=check,
)
