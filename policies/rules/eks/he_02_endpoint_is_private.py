"""HE-02: nodes reach the EKS API server inside the VPC."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.clusters import EKS_CLUSTERS


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Require the private endpoint, which EKS turns off by default."""
    private = cluster.props.at("vpcConfig", "endpointPrivateAccess").flag()
    if not private:
        found = "absent" if private is None else "off"
        yield Finding(f"Cluster '{cluster.name}' has endpointPrivateAccess {found}; expected on.")


RULE = Rule(
    id="HE-02",
    slug="endpoint-is-private",
    title="EKS must have a private API endpoint",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 5.4.2 (private endpoint)",
    applies_to=EKS_CLUSTERS,
    why="Without it, nodes reach the API server over the internet, and fail when that route fails.",
    fix="Set vpcConfig.endpointPrivateAccess to true.",
    check=check,
)
