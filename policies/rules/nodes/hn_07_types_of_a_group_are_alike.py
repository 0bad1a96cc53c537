"""HN-07: spot groups have alternatives, and node groups are homogeneous."""

import re
from collections.abc import Iterator

from components.contract.eks.checks import SPOT_TYPES_MIN
from components.contract.environments import Environment
from components.contract.lifecycle import Lifecycle
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.node_groups.eks import NODE_GROUP


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require several types for spot, and equal vCPUs, memory, GPUs and architecture within each group.

    A group that lists no types has one: its launch template's, or the EKS default.
    """
    named = len(group.props.at("instanceTypes").elements())
    if named < SPOT_TYPES_MIN and group.lifecycle is Lifecycle.SPOT:
        yield Finding(f"{group} is a spot group with {named} machine types; expected at least {SPOT_TYPES_MIN}.")
    if named > 1 and len({instance.shape for instance in group.instances}) > 1:
        types = ", ".join(group.instance_types)
        yield Finding(f"{group} mixes shapes ({types}); expected equal vCPUs, memory, GPUs and architecture.")


RULE = Rule(
    id="HN-07",
    slug="types-of-a-group-are-alike",
    title="Spot groups should list several machine types of one shape",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="EKS best practices, cluster autoscaling (node groups of identical scheduling properties, spot)",
    applies_to=EachOf(noun="each EKS node group", types=re.compile(NODE_GROUP), find=node_groups),
    why="A spot group with one type stops at the first shortage, and the autoscaler assumes one shape per group.",
    fix=f"List at least {SPOT_TYPES_MIN} types of one shape for spot, and put other shapes into separate groups.",
    check=check,
)
