"""HE-07: a production cluster and its key do not go away by accident."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.clusters import EKS_CLUSTER
from policies.views.node_groups.aks import MANAGED_CLUSTER
from policies.views.type_tokens import KMS_KEY


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Demand Pulumi's protection, and on EKS the cloud's own too; NG-20 asks the same of data pools."""
    if not resource.protect:
        yield Finding(f"'{resource.name}' has no option protect, wanted protect: true.")
    if resource.type == EKS_CLUSTER and not resource.props.at("deletionProtection").flag():
        yield Finding(f"Cluster '{resource.name}' has no deletionProtection, wanted true.")


RULE = Rule(
    id="HE-07",
    slug="cluster-and-key-are-protected",
    title="A production cluster and its key cannot be deleted by accident",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.MANDATORY},
    source="EKS user guide, deletion protection; Pulumi documentation, resource option protect",
    applies_to=resources_of("each managed cluster and each KMS key", EKS_CLUSTER, MANAGED_CLUSTER, KMS_KEY),
    why="A renamed key in a file, or a destroy in the wrong stack, would end production, and its Secrets for ever.",
    fix="Give the resource the option protect, and an EKS cluster deletionProtection.",
    check=check,
)
