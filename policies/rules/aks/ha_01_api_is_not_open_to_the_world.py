"""HA-01: the API server cannot be reached from everywhere."""

from collections.abc import Iterator

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.values import some
from policies.views.clusters import AKS_CLUSTERS
from policies.views.ranges import is_world


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Demand a private cluster, or named ranges; without either AKS lets the internet in."""
    access = cluster.props.at("apiServerAccessProfile")
    if access.at("enablePrivateCluster").flag():
        return
    ranges = access.at("authorizedIPRanges").elements()
    if not ranges or some(ranges, is_world):
        yield Finding(f"Cluster '{cluster.name}' is open to the internet, wanted a private one or named ranges.")


RULE = Rule(
    id="HA-01",
    slug="api-is-not-open-to-the-world",
    title="The internet does not reach the AKS API",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="CIS AKS benchmark, 5.4.1 and 5.4.2 (control plane endpoint); checkov, CKV_AZURE_6 and CKV_AZURE_115",
    applies_to=AKS_CLUSTERS,
    why="One hole in authentication, or one leaked credential, is then enough from anywhere.",
    fix="Set apiServerAccessProfile.enablePrivateCluster to true, or authorizedIPRanges to your own ranges.",
    check=check,
)
