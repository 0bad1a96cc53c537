"""HE-01: the EKS API server is not reachable from the whole internet."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.values import some
from policies.views.clusters import EKS_CLUSTERS
from policies.views.ranges import is_world


def check(cluster: Resource, context: Context) -> Iterator[Finding]:
    """Require a private endpoint in production and named CIDR ranges in development; EKS is public by default."""
    network = cluster.props.at("vpcConfig")
    if network.at("endpointPublicAccess").flag() is False:
        return
    if context.environment is Environment.PROD:
        yield Finding(f"Cluster '{cluster.name}' has a public endpoint; expected a private one in production.")
        return
    ranges = network.at("publicAccessCidrs").elements()
    if not ranges or some(ranges, is_world):
        yield Finding(
            f"Cluster '{cluster.name}' exposes its API to the whole internet; expected named CIDR ranges or a private "
            "endpoint."
        )


RULE = Rule(
    id="HE-01",
    slug="endpoint-is-not-open-to-the-world",
    title="The EKS API must not be open to the internet",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="CIS EKS benchmark, 5.4.1 and 5.4.2 (control plane endpoint); checkov, CKV_AWS_38 and CKV_AWS_39",
    applies_to=EKS_CLUSTERS,
    why="With a public API, one authentication flaw or leaked credential can be exploited from anywhere.",
    fix="Remove cluster.publicAccessCidrs (vpcConfig.endpointPublicAccess: false); development may list its own CIDR "
    "ranges.",
    check=check,
)
