"""HE-01: the API server cannot be reached from everywhere."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.values import some
from policies.views.clusters import EKS_CLUSTERS
from policies.views.ranges import is_world


def check(cluster: Resource, context: Context) -> Iterator[Finding]:
    """Demand a private API in production, and named ranges in development; AWS's own defaults are the internet."""
    network = cluster.props.at("vpcConfig")
    if network.at("endpointPublicAccess").flag() is False:
        return
    if context.environment is Environment.PROD:
        yield Finding(f"Cluster '{cluster.name}' has a public endpoint, wanted none in production.")
        return
    ranges = network.at("publicAccessCidrs").elements()
    if not ranges or some(ranges, is_world):
        yield Finding(f"Cluster '{cluster.name}' lets the whole internet reach its API, wanted named ranges or none.")


RULE = Rule(
    id="HE-01",
    slug="endpoint-is-not-open-to-the-world",
    title="The internet does not reach the EKS API",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="CIS EKS benchmark, 5.4.1 and 5.4.2 (control plane endpoint); checkov, CKV_AWS_38 and CKV_AWS_39",
    applies_to=EKS_CLUSTERS,
    why="One hole in authentication, or one leaked credential, is then enough from anywhere.",
    fix="Drop cluster.publicAccessCidrs (vpcConfig.endpointPublicAccess: false); development may name its own ranges.",
    check=check,
)
