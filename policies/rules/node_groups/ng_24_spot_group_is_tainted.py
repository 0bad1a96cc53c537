"""NG-24: only work that accepts interruption lands on spot nodes."""

from collections.abc import Iterator

from components.contract.lifecycle import Lifecycle
from components.contract.taints import spot_taint
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts
from policies.views.node_groups.remediation import add_spot_taint


def check(group: NodeGroupFacts, context: Context) -> Iterator[Finding]:
    """Demand the contract's spot taint, where kind of cluster and profile have one."""
    wanted = spot_taint(group.kind, context.profile)
    if wanted and group.lifecycle is Lifecycle.SPOT and not group.carries_one_of(wanted):
        yield Finding(f"{group} is spot and open to every pod, wanted the taint {wanted}.")


RULE = Rule(
    id="NG-24",
    slug="spot-group-is-tainted",
    title="Spot nodes carry the spot taint",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Spot vs. On-demand Usage",
    applies_to=NODE_GROUPS,
    why="Without the taint, work that cannot be interrupted lands on nodes that the cloud may reclaim.",
    fix="Taint the group as components/contract/taints.py does for its kind of cluster.",
    check=check,
    remedy=add_spot_taint,
)
