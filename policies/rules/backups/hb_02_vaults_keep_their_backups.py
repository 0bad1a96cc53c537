"""HB-02: a vault is not deleted together with the backups in it."""

from collections.abc import Iterator

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of
from policies.views.backups import VAULT


def check(vault: Resource, _: Context) -> Iterator[Finding]:
    """Reject forceDestroy, with which the provider deletes all backups of a vault before the vault."""
    if vault.props.at("forceDestroy").flag():
        yield Finding(f"Vault '{vault.name}' has forceDestroy: true; expected false, so that its backups stay.")


RULE = Rule(
    id="HB-02",
    slug="vaults-keep-their-backups",
    title="A vault must not delete the backups in it",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="AWS Backup developer guide, Amazon EKS backups",
    applies_to=resources_of("each backup vault", VAULT),
    why="A destroy in the wrong stack would delete the cluster and, in the same run, all that could bring it back.",
    fix="Leave forceDestroy out. An empty vault can be deleted without it.",
    check=check,
)
