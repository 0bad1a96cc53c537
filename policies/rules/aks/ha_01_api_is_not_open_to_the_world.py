"""HA-01: the AKS API server is not reachable from the whole internet."""

from collections.abc import Iterator

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.values import some
from policies.views.clusters import AKS_CLUSTERS
from policies.views.ranges import is_world


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Require a private cluster or authorized ranges; AKS is public by default."""
    access = cluster.props.at("apiServerAccessProfile")
    if access.at("enablePrivateCluster").flag():
        return
    ranges = access.at("authorizedIPRanges").elements()
    if not ranges or some(ranges, is_world):
        yield Finding(
            f"Cluster '{cluster.name}' is open to the internet; expected a private cluster or authorized IP ranges."
        )


RULE = Rule(
    id="HA-01",
    slug="api-is-not-open-to-the-world",
    title="The AKS API must not be open to the internet",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="CIS AKS benchmark, 5.4.1 and 5.4.2 (control plane endpoint); checkov, CKV_AZURE_6 and CKV_AZURE_115",
    applies_to=AKS_CLUSTERS,
    why="With a public API, one authentication flaw or leaked credential can be exploited from anywhere.",
    fix="Set apiServerAccessProfile.enablePrivateCluster to true, or authorizedIPRanges to your own ranges.",
    check=check,
)
