"""HE-03: EKS encrypts Secrets with a KMS key of the account."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.values import some
from policies.views.clusters import EKS_CLUSTERS


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Require a key for Secrets; its ARN may be unknown in a preview."""
    encryption = cluster.props.at("encryptionConfig")
    if not some(encryption.at("resources").elements(), lambda resource: resource.text() == "secrets"):
        yield Finding(f"Cluster '{cluster.name}' has no encryptionConfig for Secrets; expected one.")
    elif encryption.at("provider", "keyArn").is_absent:
        yield Finding(f"Cluster '{cluster.name}' names no key for Secrets; expected a KMS key.")


RULE = Rule(
    id="HE-03",
    slug="secrets-have-their-own-key",
    title="EKS must encrypt Secrets with a KMS key of the account",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 5.3.1 (secrets encrypted with customer master keys); checkov, CKV_AWS_58",
    applies_to=EKS_CLUSTERS,
    why="With your own key you can grant, audit and revoke access to Secrets in KMS.",
    fix="Set encryptionConfig.resources to [secrets] and provider.keyArn to a KMS key; this cannot be undone.",
    check=check,
)
