"""HN-05: nodes are made in a way that the rules about node groups can read."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.clusters import EKS_CLUSTER
from policies.views.type_tokens import SCALING_GROUP

OPAQUE: Final = {
    "eks:index:NodeGroup": "a component that hides its machines in a CloudFormation template",
    SCALING_GROUP: "a group of machines that manage themselves",
}
"""Ways to make nodes of which no rule sees roles, labels or taints."""


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Demand managed node groups, and on the cluster that EKS does not choose nodes by itself."""
    if resource.type in OPAQUE:
        yield Finding(f"'{resource.name}' is {OPAQUE[resource.type]}, wanted a managed node group.")
    elif resource.props.at("computeConfig", "enabled").flag():
        yield Finding(f"Cluster '{resource.name}' lets EKS choose its nodes (Auto Mode), wanted managed node groups.")


RULE = Rule(
    id="HN-05",
    slug="nodes-are-managed-groups",
    title="EKS nodes come from managed node groups",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="EKS best practices, reliability (data plane: use managed node groups)",
    applies_to=resources_of("each EKS cluster and each group of machines", EKS_CLUSTER, *OPAQUE),
    why="Nobody drains such nodes before they are replaced, and the rules of both packs do not see them.",
    fix="Make the nodes with aws:eks/nodeGroup:NodeGroup.",
    check=check,
)
