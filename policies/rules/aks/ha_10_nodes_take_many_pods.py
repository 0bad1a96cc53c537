"""HA-10: AKS nodes allow enough pods to use the machine."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.rule import Context, EachOf, Finding, Level, Rule, Severity
from policies.views.clusters import AKS_CLUSTERS_AND_POOLS
from policies.views.node_groups import NodeGroupFacts, node_groups

PODS_MIN: Final = 50


def check(pool: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require an explicit number: the default depends on the network plug-in and may be 30."""
    most = pool.props.at("maxPods").integer()
    if most is None or most < PODS_MIN:
        yield Finding(f"{pool} has maxPods {'absent' if most is None else most}; expected at least {PODS_MIN}.")


RULE = Rule(
    id="HA-10",
    slug="nodes-take-many-pods",
    title="AKS nodes must allow at least 50 pods",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="AKS documentation, maximum pods per node; checkov, CKV_AZURE_168",
    applies_to=EachOf(noun="each AKS agent pool", types=AKS_CLUSTERS_AND_POOLS.types, find=node_groups),
    why="System pods use part of a low limit, so large machines stay half empty. Changing it later replaces the pool.",
    fix=f"Set maxPods to {PODS_MIN} or more; 110 with an overlay network.",
    check=check,
)
