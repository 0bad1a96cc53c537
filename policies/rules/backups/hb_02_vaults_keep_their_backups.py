"""HB-02: a vault is not deleted together with the backups in it."""

from collections.abc import Iterator

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of
from policies.views.backups import AZURE_VAULT, VAULT


def check(vault: Resource, _: Context) -> Iterator[Finding]:
    """Reject vaults whose backups are deleted immediately.

    With forceDestroy, AWS's provider deletes all backups of a vault before the vault; without soft deletion, Azure
    deletes the vault as soon as its instances are gone.
    """
    if vault.props.at("forceDestroy").flag():
        yield Finding(f"Vault '{vault.name}' has forceDestroy: true; expected false, so that its backups stay.")
    if vault.props.at("properties", "securitySettings", "softDeleteSettings", "state").text() == "Off":
        yield Finding(
            f"Vault '{vault.name}' has softDeleteSettings.state: Off; expected On, so that instances can be undeleted."
        )


RULE = Rule(
    id="HB-02",
    slug="vaults-keep-their-backups",
    title="A vault must not delete the backups in it",
    severity=Severity.CRITICAL,
    level=MANDATORY_EVERYWHERE,
    source="AWS Backup developer guide, Amazon EKS backups",
    applies_to=resources_of("each backup vault", VAULT, AZURE_VAULT),
    why="A destroy in the wrong stack would delete the cluster and, in the same run, everything needed to restore it.",
    fix="Leave forceDestroy and softDeleteSettings out. An empty vault can be deleted without them.",
    check=check,
)
