"""HA-08: disks, caches and Secrets of AKS are encrypted with customer-managed keys."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.clusters import AKS_CLUSTERS_AND_POOLS, is_aks_cluster
from policies.views.node_groups import node_groups


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Require encryption at host for each pool, and customer-managed keys for disks and for Secrets."""
    for pool in node_groups(resource):
        if not pool.props.at("enableEncryptionAtHost").flag():
            yield Finding(f"{pool} has enableEncryptionAtHost off; expected on.")
    if not is_aks_cluster(resource):
        return
    if resource.props.at("diskEncryptionSetID").is_absent:
        yield Finding(f"Cluster '{resource.name}' has no diskEncryptionSetID; expected a disk encryption set.")
    if not resource.props.at("securityProfile", "azureKeyVaultKms", "enabled").flag():
        yield Finding(
            f"Cluster '{resource.name}' encrypts Secrets without Key Vault; expected azureKeyVaultKms enabled."
        )


RULE = Rule(
    id="HA-08",
    slug="data-is-encrypted",
    title="AKS must encrypt at host, and use customer-managed keys for disks and Secrets",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS AKS benchmark, 5.3.1 (secrets in Key Vault); checkov, CKV_AZURE_117 and CKV_AZURE_227",
    applies_to=AKS_CLUSTERS_AND_POOLS,
    why="Temporary disks and caches are otherwise unencrypted on the host, and platform-managed keys cannot be "
    "revoked.",
    fix="Set enableEncryptionAtHost on each pool, and diskEncryptionSetID and securityProfile.azureKeyVaultKms.",
    check=check,
)
