"""NG-29: nodes that must be close to each other are in one zone."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Reject several zones: neither EFA nor a proximity placement group reaches beyond one.

    EKS itself refuses a placement group over several zones.
    """
    if group.must_be_close and (zones := group.zones or 0) > 1:
        yield Finding(f"{group} has a fast network or a proximity placement group, and {zones} zones; expected 1.")


RULE = Rule(
    id="NG-29",
    slug="close-groups-are-in-one-zone",
    title="Nodes with EFA or a proximity placement group must be in one zone",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Amazon EC2 user guide, Elastic Fabric Adapter (limitations); AKS documentation, Proximity placement groups",
    applies_to=NODE_GROUPS,
    why="Machines in different zones cannot reach each other this way, so jobs on many nodes hang or slow down.",
    fix="Give the group the subnet or the zone of one zone only; `zone` of a pool does so.",
    check=check,
)
