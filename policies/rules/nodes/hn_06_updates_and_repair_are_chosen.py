"""HN-06: EKS node groups set update and repair behaviour explicitly."""

import re
from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.pools import PoolRole
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.node_groups.eks import NODE_GROUP


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require an update rate and, except for data pools, repair of unhealthy nodes."""
    pace = group.props.at("updateConfig")
    if all(pace.at(key).is_absent for key in ("maxUnavailable", "maxUnavailablePercentage")):
        yield Finding(f"{group} has no updateConfig; expected maxUnavailable or maxUnavailablePercentage.")
    if not group.props.at("nodeRepairConfig", "enabled").flag() and group.role is not PoolRole.DATA:
        yield Finding(f"{group} does not repair its nodes; expected nodeRepairConfig.enabled: true.")


RULE = Rule(
    id="HN-06",
    slug="updates-and-repair-are-chosen",
    title="EKS node groups should configure updates and node repair",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="EKS best practices, reliability (data plane: node auto repair and update settings)",
    applies_to=EachOf(noun="each EKS node group", types=re.compile(NODE_GROUP), find=node_groups),
    why="By default nodes are updated one at a time, which can take days, and unhealthy nodes keep receiving pods.",
    fix="Set updateConfig and, except for data pools, nodeRepairConfig.enabled: true.",
    check=check,
)
