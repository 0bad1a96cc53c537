"""SP-06: user work that must avoid spot nodes has on-demand nodes."""

from collections.abc import Iterator
from functools import partial

from components.contract.lifecycle import Lifecycle
from components.contract.mlrun import MlrunVariable
from components.contract.mlrun_choices import PreemptionMode
from components.contract.pools import JOB_ROLES
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.values import some
from policies.views.mlrun import mlrun_settings
from policies.views.node_groups import NodeGroupFacts, holds_user_work, node_groups


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require an on-demand user group in addition to spot groups, unless MLRun's default mode allows spot nodes."""
    groups = [group for each in stack for group in node_groups(each)]
    if not some(groups, partial(_takes_users, Lifecycle.SPOT)) or some(
        groups, partial(_takes_users, Lifecycle.ON_DEMAND)
    ):
        return
    modes = [facts.get(MlrunVariable.PREEMPTION_MODE) for each in stack for facts in mlrun_settings(each)]
    if any(mode in set(PreemptionMode) - {PreemptionMode.PREVENT} for mode in modes):
        return
    names = ", ".join(sorted({group.name for group in groups if _takes_users(Lifecycle.SPOT, group)}))
    yield Finding(f"All pools for user work are spot pools ({names}); expected an on-demand pool as well.")


def _takes_users(lifecycle: Lifecycle, group: NodeGroupFacts) -> bool:
    # GPU nodes only accept work that requests a GPU.
    return group.lifecycle is lifecycle and holds_user_work(group) and not (group.role and group.role.needs_a_device)


RULE = Rule(
    id="SP-06",
    slug="prevented-work-has-nodes",
    title="Work that avoids spot nodes must have on-demand nodes",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Preemption mode",
    applies_to=WholeStack(),
    why="MLRun keeps functions off spot nodes by default, so all of them would stay pending.",
    fix=f"Add a pool of role {JOB_ROLES} with lifecycle {Lifecycle.ON_DEMAND}.",
    check=check,
)
