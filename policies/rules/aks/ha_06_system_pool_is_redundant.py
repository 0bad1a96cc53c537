"""HA-06: AKS system pools are redundant and run no user work."""

from collections.abc import Iterator

from components.contract.aks.checks import SYSTEM_NODES_WANTED
from components.contract.environments import Environment
from components.contract.labels import TRUE, LabelKey
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.clusters import AKS_CLUSTERS_AND_POOLS
from policies.views.node_groups import node_groups


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Recommend several nodes in each system pool, and reject user work on them.

    The label of user pools keeps user work off, not AKS's own taint, which would also block charts of core services
    that do not tolerate it.
    """
    holders = [resource for resource in stack if AKS_CLUSTERS_AND_POOLS.types.fullmatch(resource.type)]
    pools = [(holder.urn, pool) for holder in holders for pool in node_groups(holder)]
    system = [(urn, pool) for urn, pool in pools if pool.props.at("mode").text() == "System"]
    wanted = SYSTEM_NODES_WANTED[context.environment] if len(system) == 1 else min(SYSTEM_NODES_WANTED.values())
    for urn, pool in system:
        found = pool.size_min
        if found is None or found < wanted:
            number = "an unknown number of" if found is None else found
            yield Finding(
                f"{pool} is a system pool with {number} nodes; recommended at least {wanted}.", urn=urn, advice=True
            )
        if pool.label(LabelKey.USER_WORKLOADS) == TRUE:
            yield Finding(
                f"{pool} is a system pool with the label {LabelKey.USER_WORKLOADS}; expected no such label.",
                urn=urn,
            )


RULE = Rule(
    id="HA-06",
    slug="system-pool-is-redundant",
    title="AKS system pools must run no user work and should have several nodes",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="AKS documentation, system node pools; checkov, CKV_AZURE_232",
    applies_to=WholeStack(),
    why="System pools run DNS and the tunnel to the control plane. A node failure or a greedy job must not stop them.",
    fix=f"Raise the pool's count or minCount, and remove its label {LabelKey.USER_WORKLOADS}.",
    check=check,
)
