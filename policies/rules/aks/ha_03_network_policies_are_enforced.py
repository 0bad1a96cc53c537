"""HA-03: AKS enforces network policies."""

from collections.abc import Iterator
from typing import Final

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.clusters import AKS_CLUSTERS

ENGINES: Final = ("azure", "calico", "cilium")
"""https://learn.microsoft.com/azure/aks/use-network-policies."""


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Require a network policy engine; without one AKS accepts network policies and ignores them."""
    engine = cluster.props.at("networkProfile", "networkPolicy").text()
    if engine not in ENGINES:
        found = engine or "absent"
        yield Finding(f"Cluster '{cluster.name}' has networkPolicy {found}; expected one of {', '.join(ENGINES)}.")


RULE = Rule(
    id="HA-03",
    slug="network-policies-are-enforced",
    title="AKS must run a network policy engine",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="AKS documentation, network policies; checkov, CKV_AZURE_7",
    applies_to=AKS_CLUSTERS,
    why="Without an engine, network policies are accepted but have no effect: every pod can reach every other pod.",
    fix="Set networkProfile.networkPolicy to cilium, azure or calico.",
    check=check,
)
