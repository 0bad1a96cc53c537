"""HE-02: nodes talk to the API server inside the network."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.clusters import EKS_CLUSTERS


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Demand the private endpoint, which AWS leaves off."""
    private = cluster.props.at("vpcConfig", "endpointPrivateAccess").flag()
    if not private:
        found = "absent" if private is None else "off"
        yield Finding(f"Cluster '{cluster.name}' has endpointPrivateAccess {found}, wanted on.")


RULE = Rule(
    id="HE-02",
    slug="endpoint-is-private",
    title="The EKS API answers inside the network",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 5.4.2 (private endpoint)",
    applies_to=EKS_CLUSTERS,
    why="Without it nodes reach their API server through the internet, and stop working when that way does.",
    fix="Set vpcConfig.endpointPrivateAccess to true.",
    check=check,
)
