"""HE-08: an EKS cluster survives the loss of a zone."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import NotJudgeableError
from policies.views.clusters import eks_clusters
from policies.views.type_tokens import SUBNET

ZONES_MIN: Final = 2


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require subnets in two zones. Only subnets of this stack are checked; AWS checks the others."""
    subnets = {resource.urn: resource for resource in stack if resource.type == SUBNET}
    for cluster in eks_clusters(stack):
        own = [subnets[urn] for urn in cluster.depends_on.get("vpcConfig", ()) if urn in subnets]
        given = cluster.props.at("vpcConfig", "subnetIds").elements()
        if len(given) < ZONES_MIN:
            message = f"Cluster '{cluster.name}' has {len(given)} subnets; expected one in each of {ZONES_MIN} zones."
            yield Finding(message, urn=cluster.urn)
        elif len(own) >= len(given) and len(zones := {_zone(subnet) for subnet in own}) < ZONES_MIN:
            message = (
                f"Cluster '{cluster.name}' uses only the zone {', '.join(zones)}; expected at least {ZONES_MIN} zones."
            )
            yield Finding(message, urn=cluster.urn)


def _zone(subnet: Resource) -> str:
    zone = subnet.props.at("availabilityZone")
    text = zone.text()
    if text is None:
        raise NotJudgeableError(f"{zone.path} of '{subnet.name}'", "is chosen by AWS")
    return text


RULE = Rule(
    id="HE-08",
    slug="cluster-spans-zones",
    title="An EKS cluster must have subnets in at least two zones",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="EKS best practices, reliability (run nodes in several zones)",
    applies_to=WholeStack(),
    why="If a single zone holds the control plane, nodes and volumes, its failure takes down all of them.",
    fix="List subnets of two or three zones in vpcConfig.subnetIds.",
    check=check,
)
