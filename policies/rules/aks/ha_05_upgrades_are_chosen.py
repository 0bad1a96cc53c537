"""HA-05: how a cluster gets its fixes is decided."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import some
from policies.views.clusters import AKS_CLUSTERS_AND_POOLS, aks_clusters
from policies.views.node_groups import node_groups

OFF: Final = {"upgradeChannel": ("none",), "nodeOSUpgradeChannel": ("None", "Unmanaged")}
"""Channels by what they upgrade, each with the words by which nobody upgrades it.

https://learn.microsoft.com/azure/aks/auto-upgrade-cluster and https://learn.microsoft.com/azure/aks/auto-upgrade-node-os-image
"""


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand stated channels; beside data pools, whose disks an upgrade erases, they may be stated to be off."""
    for cluster in aks_clusters(stack):
        for channel, off in OFF.items():
            chosen = cluster.props.at("autoUpgradeProfile", channel).text()
            if not chosen or (chosen in off and not _has_data(stack)):
                message = f"Cluster '{cluster.name}' has {channel} {chosen or 'absent'}, wanted one that upgrades."
                yield Finding(message, urn=cluster.urn)


def _has_data(stack: Stack) -> bool:
    pools = (pool for r in stack if AKS_CLUSTERS_AND_POOLS.types.fullmatch(r.type) for pool in node_groups(r))
    return some(pools, lambda pool: pool.role is PoolRole.DATA)


RULE = Rule(
    id="HA-05",
    slug="upgrades-are-chosen",
    title="AKS has chosen channels for its version and its nodes' images",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="AKS documentation, automatic upgrades; checkov, CKV_AZURE_171",
    applies_to=WholeStack(),
    why="Known holes in Kubernetes and in the nodes' images stay open until somebody remembers them.",
    fix="Set autoUpgradeProfile.upgradeChannel to patch and nodeOSUpgradeChannel to NodeImage.",
    check=check,
)
