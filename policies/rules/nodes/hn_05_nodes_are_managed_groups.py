"""HN-05: EKS nodes come from managed node groups."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.type_tokens import EKS_CLUSTER, SCALING_GROUP

OPAQUE: Final = {
    "eks:index:NodeGroup": "a component that creates machines in a CloudFormation template",
    SCALING_GROUP: "a self-managed group of machines",
}
"""Resources whose nodes have no visible role, labels or taints."""


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Require managed node groups, and reject EKS Auto Mode."""
    if resource.type in OPAQUE:
        yield Finding(f"'{resource.name}' is {OPAQUE[resource.type]}; expected a managed node group.")
    elif resource.props.at("computeConfig", "enabled").flag():
        yield Finding(f"Cluster '{resource.name}' lets EKS choose its nodes (Auto Mode); expected managed node groups.")


RULE = Rule(
    id="HN-05",
    slug="nodes-are-managed-groups",
    title="EKS nodes should come from managed node groups",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="EKS best practices, reliability (data plane: use managed node groups)",
    applies_to=resources_of("each EKS cluster and each group of machines", EKS_CLUSTER, *OPAQUE),
    why="Other nodes are not drained before replacement, and the policy rules cannot check them.",
    fix="Create the nodes with aws:eks/nodeGroup:NodeGroup.",
    check=check,
)
