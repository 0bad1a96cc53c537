"""NG-24: spot nodes are tainted, so that only interruptible work runs there."""

from collections.abc import Iterator

from components.contract.clusters import spot_taint
from components.contract.lifecycle import Lifecycle
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts
from policies.views.node_groups.remediation import add_spot_taint


def check(group: NodeGroupFacts, context: Context) -> Iterator[Finding]:
    """Require the spot taint, where the cluster kind and profile define one."""
    wanted = spot_taint(group.kind, context.profile)
    if wanted and group.lifecycle is Lifecycle.SPOT and not group.carries_one_of(wanted):
        yield Finding(f"{group} is a spot group without the spot taint; expected {wanted}.")


RULE = Rule(
    id="NG-24",
    slug="spot-group-is-tainted",
    title="Spot nodes must have the spot taint",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Spot vs. On-demand Usage",
    applies_to=NODE_GROUPS,
    why="Without the taint, work that must not be interrupted may run on nodes that the cloud can reclaim.",
    fix="Add the taint that the message names.",
    check=check,
    remedy=add_spot_taint,
)
