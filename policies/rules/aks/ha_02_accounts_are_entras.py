"""HA-02: whoever reaches the cluster is somebody whom Entra ID knows."""

from collections.abc import Iterator

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.clusters import AKS_CLUSTERS

WANTED = (("disableLocalAccounts",), ("aadProfile", "managed"), ("aadProfile", "enableAzureRBAC"))


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Demand Entra ID and Azure's roles, no local accounts beside them, and that roles count at all."""
    for path in WANTED:
        if not cluster.props.at(*path).flag():
            yield Finding(f"Cluster '{cluster.name}' has {'.'.join(path)} off, wanted on.")
    if cluster.props.at("enableRBAC").flag() is False:
        yield Finding(f"Cluster '{cluster.name}' has enableRBAC off, wanted on.")


RULE = Rule(
    id="HA-02",
    slug="accounts-are-entras",
    title="AKS knows accounts of Entra ID only, with Azure's roles",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="CIS AKS benchmark, 5.5.1 and 5.5.2 (users and roles); checkov, CKV_AZURE_141",
    applies_to=AKS_CLUSTERS,
    why="The local admin's certificate belongs to nobody, outlives everybody who copied it and cannot be taken back.",
    fix="Set disableLocalAccounts, aadProfile.managed and aadProfile.enableAzureRBAC to true.",
    check=check,
)
