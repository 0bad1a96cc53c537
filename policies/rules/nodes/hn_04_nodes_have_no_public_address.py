"""HN-04: nodes have no public addresses."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource, find_in
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.node_groups import CLOUDS


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Check each cloud's setting: AWS in subnets and launch templates, Azure in agent pools."""
    for cloud in CLOUDS:
        for found, key in find_in(resource, cloud.public_addresses):
            yield Finding(f"{found} assigns public addresses; expected {key}: false.")


RULE = Rule(
    id="HN-04",
    slug="nodes-have-no-public-address",
    title="Nodes must have private addresses only",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 5.4.3 (private nodes); CIS AKS benchmark, 5.4.3; checkov, CKV_AZURE_143",
    applies_to=resources_of(
        "each resource that can give nodes public addresses",
        *(type_ for cloud in CLOUDS for type_ in cloud.public_addresses),
    ),
    why="With a public address, any port opened by mistake is exposed to the internet.",
    fix="Turn public addresses off. Nodes reach the internet through NAT; load balancers have their own addresses.",
    check=check,
)
