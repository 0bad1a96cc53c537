"""HA-04: a production AKS control plane has an availability SLA."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.clusters import AKS_CLUSTERS

PAID: Final = ("Standard", "Premium")
"""https://learn.microsoft.com/azure/aks/free-standard-pricing-tiers."""


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Require a tier with an SLA; the default tier has none."""
    tier = cluster.props.at("sku", "tier").text()
    if tier not in PAID:
        yield Finding(f"Cluster '{cluster.name}' has tier {tier or 'absent'}; expected {' or '.join(PAID)}.")


RULE = Rule(
    id="HA-04",
    slug="production-is-paid-for",
    title="A production AKS cluster must use a paid tier",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.MANDATORY},
    source="AKS documentation, pricing tiers; checkov, CKV_AZURE_170",
    applies_to=AKS_CLUSTERS,
    why="The free tier has no SLA, and its API server throttles large clusters.",
    fix="Set sku.tier to Standard.",
    check=check,
)
