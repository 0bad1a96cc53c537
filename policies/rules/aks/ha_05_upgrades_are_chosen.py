"""HA-05: AKS upgrade channels are set explicitly."""

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
"""Upgrade channels, each with the values that turn it off.

https://learn.microsoft.com/azure/aks/auto-upgrade-cluster and https://learn.microsoft.com/azure/aks/auto-upgrade-node-os-image
"""


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require both channels. They may be off in a cluster with data pools, because an upgrade erases their disks."""
    for cluster in aks_clusters(stack):
        for channel, off in OFF.items():
            chosen = cluster.props.at("autoUpgradeProfile", channel).text()
            if not chosen or (chosen in off and not _has_data(stack)):
                message = (
                    f"Cluster '{cluster.name}' has {channel} {chosen or 'absent'}; expected a channel that upgrades."
                )
                yield Finding(message, urn=cluster.urn)


def _has_data(stack: Stack) -> bool:
    pools = (pool for r in stack if AKS_CLUSTERS_AND_POOLS.types.fullmatch(r.type) for pool in node_groups(r))
    return some(pools, lambda pool: pool.role is PoolRole.DATA)


RULE = Rule(
    id="HA-05",
    slug="upgrades-are-chosen",
    title="AKS must set upgrade channels for Kubernetes and for node images",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="AKS documentation, automatic upgrades; checkov, CKV_AZURE_171",
    applies_to=WholeStack(),
    why="Without a channel, security fixes for Kubernetes and for node images wait for a manual upgrade.",
    fix="Set autoUpgradeProfile.upgradeChannel to patch and nodeOSUpgradeChannel to NodeImage.",
    check=check,
)
