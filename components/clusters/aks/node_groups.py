"""Agent pools: the contract's pools in AKS's terms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pulumi_azure_native.containerservice import (
    AgentPool,
    AgentPoolUpgradeSettingsArgs,
    ManagedCluster,
    ManagedClusterAgentPoolProfileArgs,
)

from components.base import PlatformComponent
from components.contract.aks.agent_pools import (
    fixed_inputs,
    node_labels,
    node_taints,
    placement_group,
    pool_name,
    upgrade_settings,
)
from components.contract.aks.config import AksConfig
from components.contract.azure import AzureTag
from components.contract.groups import NodeGroup
from components.contract.pool_upgrade import DRAIN_MINUTES_DEFAULT, SOAK_MINUTES_DEFAULT, minutes_at_most
from components.contract.pools import PoolRole

UPDATE_MINUTES: Final = 120
"""Default timeout of the provider for an update (pulumi-azure-native, ``provider/pkg/provider/provider.go``)."""


def initial_profile(
    group: NodeGroup, choices: AksConfig, tags: Mapping[str, str]
) -> ManagedClusterAgentPoolProfileArgs:
    """Return the pool that a cluster is created with: its system pool, which keeps its name.

    Once another pool took over, this entry still has the name of the pool at creation: no update changes the list.
    """
    return ManagedClusterAgentPoolProfileArgs(
        name=choices.created_with_pool or pool_name(group, choices),
        mode="System",
        **fixed_inputs(group, choices),
        **_changeable(group, choices, tags),
    )


@dataclass(frozen=True, kw_only=True)
class AgentPoolsArgs:
    """Inputs of all pools but the one that the cluster is created with."""

    groups: Sequence[NodeGroup]
    choices: AksConfig
    resource_group: pulumi.Input[str]
    cluster: ManagedCluster
    tags: Mapping[str, str]


class AgentPools(PlatformComponent):
    """All pools but the one that the cluster is created with, one after the other: AKS refuses to change two at a time.

    A change of an immutable property creates a pool with another name; the old one is deleted afterwards.
    """

    pools: tuple[AgentPool, ...]

    def __init__(self, name: str, args: AgentPoolsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("igz-clusters:clusters:AksNodeGroups", name, None, opts)
        made: list[AgentPool] = []
        for group in args.groups:
            needed: list[pulumi.Resource] = [*made[-1:]]
            if group.is_close_together:
                needed.append(self._near(name, group, args))
            made.append(self._pool(f"{name}-{group.name}", group, args, needed))
        self.pools = tuple(made)
        self.register_outputs({"names": [pool.name for pool in made]})

    def _near(self, name: str, group: NodeGroup, args: AgentPoolsArgs) -> pulumi.Resource:
        """Return the proximity placement group of a pool: all its machines are in the data center of the first one.

        A new name means a new resource, which is created before the pool that replaces the one in the old group.
        https://learn.microsoft.com/azure/aks/reduce-latency-ppg
        """
        # Only stacks with such pools load the SDK of machines.
        from pulumi_azure_native.compute import ProximityPlacementGroup  # noqa: PLC0415

        near = placement_group(group)
        made: pulumi.Resource = ProximityPlacementGroup(
            f"{name}-{near}",
            resource_group_name=args.resource_group,
            proximity_placement_group_name=near,
            proximity_placement_group_type="Standard",
            location=args.choices.location,
            tags=args.tags,
            opts=self.child(),
        )
        return made

    def _pool(self, name: str, group: NodeGroup, args: AgentPoolsArgs, needed: Sequence[pulumi.Resource]) -> AgentPool:
        holds_data, is_system = group.role is PoolRole.DATA, group.role is PoolRole.INITIAL
        return AgentPool(
            name,
            resource_group_name=args.resource_group,
            resource_name_=args.cluster.name,
            agent_pool_name=pool_name(group, args.choices),
            mode="System" if is_system else "User",
            **fixed_inputs(group, args.choices),
            **_changeable(group, args.choices, args.tags),
            opts=self.child(
                depends_on=list(needed),
                protect=holds_data,
                retain_on_delete=holds_data,
                ignore_changes=_left_alone(group),
                # By default the plug-in deletes named resources before replacement. Here, replacements get a new name.
                delete_before_replace=False,
                custom_timeouts=_timeouts(group),
                # AKS does not delete the last system pool on its own, but deletes all pools with their cluster.
                deleted_with=args.cluster if is_system else None,
            ),
        )


def _changeable(group: NodeGroup, choices: AksConfig, tags: Mapping[str, str]) -> dict[str, Any]:
    """Return the properties that can change in an existing pool."""
    upgrades = upgrade_settings(group)
    bounds = {"min_count": group.size.min, "max_count": group.size.max} if group.is_elastic else {}
    return {
        "count": group.initial_nodes,
        "enable_auto_scaling": group.is_elastic,
        **bounds,
        "node_labels": node_labels(group),
        "node_taints": node_taints(group) or None,
        "orchestrator_version": choices.version_of_nodes,
        "os_sku": "Ubuntu",
        "upgrade_settings": AgentPoolUpgradeSettingsArgs(**upgrades) if upgrades else None,
        "tags": {**tags, **_successor(group, choices)},
    }


def _successor(group: NodeGroup, choices: AksConfig) -> dict[str, str]:
    """Return the tag of a system pool that took over and of its predecessor: neither counts in the cluster's list."""
    is_one = group.role is PoolRole.INITIAL and choices.created_with_pool
    return {AzureTag.TOOK_OVER.value: str(choices.created_with_pool)} if is_one else {}


def _timeouts(group: NodeGroup) -> pulumi.CustomTimeouts | None:
    """Return how long an update may take, if the stack file limits it; otherwise the provider's default applies."""
    if (given := group.upgrade) is None:
        return None
    pause = (given.drain_minutes or DRAIN_MINUTES_DEFAULT) + (given.soak_minutes or SOAK_MINUTES_DEFAULT)
    minutes = minutes_at_most(group.upgraded_at_once, group.size.max, pause)
    return pulumi.CustomTimeouts(update=f"{max(minutes, UPDATE_MINUTES)}m")


def _left_alone(group: NodeGroup) -> list[str]:
    """Return the inputs for ``ignore_changes``, in the engine's spelling; it silently ignores any other spelling."""
    if group.role is PoolRole.DATA:
        # An upgrade replaces every node, and with it the data on its disks.
        return ["orchestratorVersion"]
    # The autoscaler sets the size between the bounds. We set the size of a static pool.
    return ["count"] if group.is_elastic else []
