"""HE-03: Secrets are encrypted with a key that the account holds."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.values import some
from policies.views.clusters import EKS_CLUSTERS


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Demand a key for Secrets; which key it is may be known only after it is made."""
    encryption = cluster.props.at("encryptionConfig")
    if not some(encryption.at("resources").elements(), lambda resource: resource.text() == "secrets"):
        yield Finding(f"Cluster '{cluster.name}' has no encryptionConfig for secrets, wanted one.")
    elif encryption.at("provider", "keyArn").is_absent:
        yield Finding(f"Cluster '{cluster.name}' names no key for secrets, wanted a KMS key.")


RULE = Rule(
    id="HE-03",
    slug="secrets-have-their-own-key",
    title="Secrets are encrypted with a KMS key of the account",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 5.3.1 (secrets encrypted with customer master keys); checkov, CKV_AWS_58",
    applies_to=EKS_CLUSTERS,
    why="Who may read Secrets can then be decided, seen in the audit trail and taken back in KMS.",
    fix="Set encryptionConfig.resources to [secrets] and provider.keyArn to a KMS key; it cannot be taken back.",
    check=check,
)
