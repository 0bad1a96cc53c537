"""HN-04: nodes have no public addresses."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.node_groups import node_groups
from policies.views.node_groups.aks import AGENT_POOL, MANAGED_CLUSTER
from policies.views.type_tokens import LAUNCH_TEMPLATE, SUBNET


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Check each cloud's setting: AWS in subnets and launch templates, Azure in agent pools."""
    if resource.type == SUBNET:
        if resource.props.at("mapPublicIpOnLaunch").flag():
            yield Finding(f"Subnet '{resource.name}' assigns public addresses; expected mapPublicIpOnLaunch: false.")
    elif resource.type == LAUNCH_TEMPLATE:
        for interface in resource.props.at("networkInterfaces").elements():
            if interface.at("associatePublicIpAddress").text() == "true":
                where = f"Launch template '{resource.name}' ({interface.path})"
                yield Finding(f"{where} assigns public addresses; expected associatePublicIpAddress: false.")
    else:
        for pool in node_groups(resource):
            if pool.props.at("enableNodePublicIP").flag():
                yield Finding(f"{pool} assigns public addresses to nodes; expected enableNodePublicIP: false.")


RULE = Rule(
    id="HN-04",
    slug="nodes-have-no-public-address",
    title="Nodes must have private addresses only",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 5.4.3 (private nodes); CIS AKS benchmark, 5.4.3; checkov, CKV_AZURE_143",
    applies_to=resources_of(
        "each subnet, launch template and AKS agent pool", SUBNET, LAUNCH_TEMPLATE, AGENT_POOL, MANAGED_CLUSTER
    ),
    why="With a public address, any port opened by mistake is exposed to the internet.",
    fix="Turn public addresses off. Nodes reach the internet through NAT; load balancers have their own addresses.",
    check=check,
)
