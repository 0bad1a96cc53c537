"""HE-07: a production cluster and its KMS key are protected from deletion."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.clusters import CLUSTERS
from policies.views.type_tokens import EKS_CLUSTER, KMS_KEY


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Require Pulumi's ``protect``, and on EKS also deletion protection; NG-20 does the same for data pools."""
    if not resource.protect:
        yield Finding(f"'{resource.name}' is not protected; expected the resource option protect: true.")
    if resource.type == EKS_CLUSTER and not resource.props.at("deletionProtection").flag():
        yield Finding(f"Cluster '{resource.name}' has no deletionProtection; expected true.")


RULE = Rule(
    id="HE-07",
    slug="cluster-and-key-are-protected",
    title="A production cluster and its KMS key must be protected from deletion",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.MANDATORY},
    source="EKS user guide, deletion protection; Pulumi documentation, resource option protect",
    applies_to=resources_of("each managed cluster and each KMS key", CLUSTERS.types.pattern, KMS_KEY),
    why="A renamed key in a file, or a destroy in the wrong stack, would delete production and make its Secrets "
    "unreadable.",
    fix="Set the resource option protect, and deletionProtection on an EKS cluster.",
    check=check,
)
