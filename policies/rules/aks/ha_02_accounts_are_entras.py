"""HA-02: users authenticate to AKS through Entra ID."""

from collections.abc import Iterator

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.clusters import AKS_CLUSTERS

WANTED = (("disableLocalAccounts",), ("aadProfile", "managed"), ("aadProfile", "enableAzureRBAC"))


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Require Entra ID, Azure RBAC and Kubernetes RBAC, and no local accounts."""
    for path in WANTED:
        if not cluster.props.at(*path).flag():
            yield Finding(f"Cluster '{cluster.name}' has {'.'.join(path)} off; expected on.")
    if cluster.props.at("enableRBAC").flag() is False:
        yield Finding(f"Cluster '{cluster.name}' has enableRBAC off; expected on.")


RULE = Rule(
    id="HA-02",
    slug="accounts-are-entras",
    title="AKS must authenticate and authorize users through Entra ID only",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="CIS AKS benchmark, 5.5.1 and 5.5.2 (users and roles); checkov, CKV_AZURE_141",
    applies_to=AKS_CLUSTERS,
    why="The local admin certificate is not tied to a person, cannot be revoked, and works for anyone who has a copy.",
    fix="Set disableLocalAccounts, aadProfile.managed and aadProfile.enableAzureRBAC to true.",
    check=check,
)
