"""HA-06: what AKS itself runs in the cluster has nodes enough, and to itself."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from components.contract.labels import TRUE, LabelKey
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.clusters import AKS_CLUSTERS_AND_POOLS
from policies.views.node_groups import node_groups

NODES_MIN: Final = 2
NODES_MIN_OF_A_SINGLE_POOL: Final = 3
"""In production: https://learn.microsoft.com/azure/aks/use-system-pools."""


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Demand nodes of each system pool, and no user work on them.

    It is kept off by the label that every user pool carries and not by AKS's taint, which blocks every chart of core
    services that does not tolerate it.
    """
    holders = [resource for resource in stack if AKS_CLUSTERS_AND_POOLS.types.fullmatch(resource.type)]
    pools = [(holder.urn, pool) for holder in holders for pool in node_groups(holder)]
    system = [(urn, pool) for urn, pool in pools if pool.props.at("mode").text() == "System"]
    is_single = len(system) == 1 and context.environment is Environment.PROD
    wanted = NODES_MIN_OF_A_SINGLE_POOL if is_single else NODES_MIN
    for urn, pool in system:
        found = pool.size_min
        if found is None or found < wanted:
            number = "no number of" if found is None else found
            yield Finding(f"{pool} is a system pool of {number} nodes, wanted {wanted} or more.", urn=urn)
        if pool.label(LabelKey.USER_WORKLOADS) == TRUE:
            yield Finding(f"{pool} is a system pool with the label {LabelKey.USER_WORKLOADS}, wanted none.", urn=urn)


RULE = Rule(
    id="HA-06",
    slug="system-pool-is-redundant",
    title="AKS system pools have several nodes and no user work",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="AKS documentation, system node pools; checkov, CKV_AZURE_232",
    applies_to=WholeStack(),
    why="DNS and the way to the control plane run there: with one node, or a user's job beside them, they stop.",
    fix=f"Raise the pool's count or minCount, and take the label {LabelKey.USER_WORKLOADS} off it.",
    check=check,
)
