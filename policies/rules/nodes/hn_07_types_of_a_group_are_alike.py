"""HN-07: a spot group has somewhere to go, and the autoscaler is right about every group."""

import re
from collections.abc import Iterator

from components.contract.eks.checks import SPOT_TYPES_MIN
from components.contract.environments import Environment
from components.contract.lifecycle import Lifecycle
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.views.node_groups import NodeGroupFacts, node_groups
from policies.views.node_groups.eks import NODE_GROUP


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Demand several types for spot, and the same vCPUs, memory, GPUs and architecture inside each group.

    A group that names none has one: its launch template's, or AWS's default.
    """
    named = len(group.props.at("instanceTypes").elements())
    if named < SPOT_TYPES_MIN and group.lifecycle is Lifecycle.SPOT:
        yield Finding(f"{group} is a spot group and names {named} types, wanted {SPOT_TYPES_MIN} or more.")
    if named > 1 and len({instance.shape for instance in group.instances}) > 1:
        types = ", ".join(group.instance_types)
        yield Finding(f"{group} mixes shapes ({types}), wanted equal vCPUs, memory, GPUs and architecture.")


RULE = Rule(
    id="HN-07",
    slug="types-of-a-group-are-alike",
    title="Spot groups have several machine types, and the types of a group are alike",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="EKS best practices, cluster autoscaling (node groups of identical scheduling properties, spot)",
    applies_to=EachOf(noun="each EKS node group", types=re.compile(NODE_GROUP), find=node_groups),
    why="One shortage stops a spot group of one type, and the autoscaler takes the first shape for all of a group.",
    fix=f"Name {SPOT_TYPES_MIN} or more types of one shape for spot, and give another shape a group of its own.",
    check=check,
)
