"""SP-06: work that may not run on spot nodes has others to run on."""

from collections.abc import Iterator
from functools import partial

from components.contract.lifecycle import Lifecycle
from components.contract.mlrun import MlrunVariable, PreemptionMode
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.values import some
from policies.views.mlrun import mlrun_settings
from policies.views.node_groups import NodeGroupFacts, holds_user_work, node_groups


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand a user group of on-demand nodes beside those of spot nodes, unless MLRun's default mode needs none."""
    groups = [group for each in stack for group in node_groups(each)]
    if not some(groups, partial(_takes_users, Lifecycle.SPOT)) or some(
        groups, partial(_takes_users, Lifecycle.ON_DEMAND)
    ):
        return
    told = [facts.get(MlrunVariable.PREEMPTION_MODE) for each in stack for facts in mlrun_settings(each)]
    if any(mode in set(PreemptionMode) - {PreemptionMode.PREVENT} for mode in told):
        return
    names = ", ".join(sorted({group.name for group in groups if _takes_users(Lifecycle.SPOT, group)}))
    yield Finding(f"All nodes for user work are spot nodes (pools {names}), wanted a pool of on-demand nodes too.")


def _takes_users(lifecycle: Lifecycle, group: NodeGroupFacts) -> bool:
    # GPU nodes take only work that asks for a GPU.
    return group.lifecycle is lifecycle and group.role is not PoolRole.GPU and holds_user_work(group)


RULE = Rule(
    id="SP-06",
    slug="prevented-work-has-nodes",
    title="Work that may not run on spot nodes has on-demand nodes to run on",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Preemption mode",
    applies_to=WholeStack(),
    why="MLRun's default mode keeps functions off spot nodes, so that all of them would wait for ever.",
    fix=f"Add a pool of role {PoolRole.WORKLOAD} with lifecycle {Lifecycle.ON_DEMAND}.",
    check=check,
)
