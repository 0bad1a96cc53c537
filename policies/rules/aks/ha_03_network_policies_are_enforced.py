"""HA-03: a network policy is more than a wish."""

from collections.abc import Iterator
from typing import Final

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.clusters import AKS_CLUSTERS

ENGINES: Final = ("azure", "calico", "cilium")
"""https://learn.microsoft.com/azure/aks/use-network-policies."""


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Demand an engine, without which AKS accepts network policies and ignores them."""
    engine = cluster.props.at("networkProfile", "networkPolicy").text()
    if engine not in ENGINES:
        found = engine or "absent"
        yield Finding(f"Cluster '{cluster.name}' has networkPolicy {found}, wanted one of {', '.join(ENGINES)}.")


RULE = Rule(
    id="HA-03",
    slug="network-policies-are-enforced",
    title="AKS enforces network policies",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="AKS documentation, network policies; checkov, CKV_AZURE_7",
    applies_to=AKS_CLUSTERS,
    why="The namespaces' policies are accepted and do nothing: every pod still reaches every other.",
    fix="Set networkProfile.networkPolicy to cilium, azure or calico.",
    check=check,
)
