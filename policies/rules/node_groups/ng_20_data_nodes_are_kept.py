"""NG-20: data nodes are protected from being stopped, replaced or removed."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from components.contract.environments import ClusterKind
from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.resource import Resource, Stack
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity, Subject, WholeStack
from policies.views.data_nodes import data_groups, launch_template, scaling_groups_of_data, schedules
from policies.views.node_groups import NodeGroupFacts
from policies.views.node_groups.aks import MANAGED_CLUSTER

TEMPLATE_FLAGS: Final = ("disableApiStop", "disableApiTermination")
UPGRADES: Final = {"upgradeChannel": (None, "none"), "nodeOSUpgradeChannel": ("None", "Unmanaged")}
"""Values that do not replace nodes: https://learn.microsoft.com/azure/aks/auto-upgrade-node-os-image.

If unset, AKS replaces node images every week.
"""


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Check the groups, then everything else that can affect their machines."""
    groups, scaling_groups = data_groups(stack), scaling_groups_of_data(stack)
    for group in groups:
        yield from (Finding(f"{group} {found}.", urn=group.resource.urn) for found in _of_group(group))
    for scaling_group in scaling_groups:
        yield from _of_scaling_group(scaling_group)
    if any(group.kind is ClusterKind.AKS for group in groups):
        yield from chain.from_iterable(map(_of_cluster, stack))
    for group in groups:
        if group.kind is ClusterKind.EKS:
            yield from _of_template(group, stack)
    urns = {group.resource.urn for group in groups} | {one.urn for one in scaling_groups}
    for schedule in schedules(stack, urns) if urns else ():
        yield Finding(
            f"Schedule '{schedule.name}' resizes a group of data nodes; expected no schedule.",
            urn=schedule.urn,
        )


def _of_group(group: NodeGroupFacts) -> Iterator[str]:
    if not group.resource.protect:
        yield "is not protected; expected the resource option protect: true"
    for name in group.rolled_by:
        yield f"replaces its nodes when {name} changes; expected the input in ignore_changes"
    if group.repairs_nodes:
        yield "replaces unhealthy nodes; expected nodeRepairConfig off"
    if group.is_stopped:
        yield "is stopped; expected powerState Running"


def _of_template(group: NodeGroupFacts, stack: Stack) -> Iterator[Finding]:
    template = launch_template(group, stack)
    if template is None:
        yield Finding(
            f"{group} has no launch template; expected one with stop and termination protection.",
            urn=group.resource.urn,
        )
        return
    for flag in TEMPLATE_FLAGS:
        if not template.props.at(flag).flag():
            yield Finding(
                f"Launch template '{template.name}' of {group} has {flag} off; expected on.", urn=template.urn
            )


def _of_scaling_group(group: Resource) -> Iterator[Finding]:
    name = f"Auto Scaling group '{group.name}' of data nodes"
    if not group.protect:
        yield Finding(f"{name} is not protected; expected the resource option protect: true.", urn=group.urn)
    if not group.props.at("protectFromScaleIn").flag():
        yield Finding(f"{name} has protectFromScaleIn off; expected on.", urn=group.urn)


def _of_cluster(cluster: Resource) -> Iterator[Finding]:
    if not re.fullmatch(MANAGED_CLUSTER, cluster.type):
        return
    for key, harmless in UPGRADES.items():
        found = cluster.props.at("autoUpgradeProfile", key).text()
        if found not in harmless:
            yield Finding(
                f"Cluster '{cluster.name}' has data nodes and {key} {found or 'absent'}; expected {harmless[-1]}.",
                urn=cluster.urn,
            )


RULE = Rule(
    id="NG-20",
    slug="data-nodes-are-kept",
    title="Data nodes must be protected from stop, replacement and removal",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, data nodes",
    applies_to=WholeStack(),
    why="Data on NVMe disks is lost as soon as the machine stops, for whatever reason.",
    fix="Protect the group, and exclude it from updates, repair, upgrades and schedules. Migrate data before "
    "replacing nodes.",
    check=check,
    admission=Admission(
        subject=Subject.NODES,
        expression=f"oldObject.metadata.?labels['{LabelKey.ROLE}'].orValue('') != '{PoolRole.DATA}'",
    ),
)
