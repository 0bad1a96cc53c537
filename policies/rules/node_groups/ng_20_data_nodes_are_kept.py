"""NG-20: data nodes are protected from being stopped, replaced or removed."""

from collections.abc import Iterator
from typing import Final

from components.contract.labels import TRUE, AnnotationKey, LabelKey
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity, Subject, WholeStack
from policies.views.node_groups import CLOUDS, NodeGroupFacts, node_groups

_KEPT: Final = AnnotationKey.SCALE_DOWN_DISABLED


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Check the groups, then everything else of each cloud that can affect their machines."""
    # Data nodes of the local cluster hold no data: their machines are simulated.
    found = (group for resource in stack for group in node_groups(resource))
    groups = [group for group in found if group.role is PoolRole.DATA]
    for group in groups:
        yield from (Finding(f"{group} {problem}.", urn=group.resource.urn) for problem in _of_group(group))
    for cloud in CLOUDS:
        yield from cloud.data_risks([group for group in groups if isinstance(group, cloud.view)], stack)


def _of_group(group: NodeGroupFacts) -> Iterator[str]:
    if group.may_be_scaled_in:
        yield f"may be scaled in by the cluster's autoscaler; expected the node annotation {_KEPT}: '{TRUE}'"
    if not group.makes_machines:  # those of an existing cluster are its owner's: no change stops or replaces them
        return
    if not group.resource.protect:
        yield "is not protected; expected the resource option protect: true"
    for name in group.rolled_by:
        yield f"replaces its nodes when {name} changes; expected the input in ignore_changes"
    if group.repairs_nodes:
        yield "replaces unhealthy nodes; expected nodeRepairConfig off"
    if group.is_stopped:
        yield "is stopped; expected powerState Running"


RULE = Rule(
    id="NG-20",
    slug="data-nodes-are-kept",
    title="Data nodes must be protected from stop, replacement and removal",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, data nodes",
    applies_to=WholeStack(),
    why="Data on NVMe disks is lost as soon as the machine stops, for whatever reason.",
    fix="Protect the group, and exclude it from updates, repair, upgrades, schedules and autoscalers. Migrate data "
    "before replacing nodes.",
    check=check,
    admission=Admission(
        subject=Subject.NODES,
        expression=f"oldObject.metadata.?labels['{LabelKey.ROLE}'].orValue('') != '{PoolRole.DATA}'",
    ),
)
