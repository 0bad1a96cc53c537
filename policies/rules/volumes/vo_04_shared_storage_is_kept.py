"""VO-04: shared storage that nobody can compute again has backups, and in production protection."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.shared_storage import BACKUP_POLICY, file_systems, is_kept, parts


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require backups and protection of each file system that is not for scratch data."""
    for files in filter(is_kept, file_systems(stack)):
        if not any(_is_on(policy) for policy in parts(stack, files, BACKUP_POLICY)):
            yield Finding(f"File system '{files.name}' has no backups; expected a policy with ENABLED.", urn=files.urn)
        if not files.protect:
            told = "is not protected; expected the resource option protect: true."
            yield Finding(f"File system '{files.name}' {told}", urn=files.urn)


def _is_on(policy: Resource) -> bool:
    return policy.props.at("backupPolicy", "status").text() == "ENABLED"


RULE = Rule(
    id="VO-04",
    slug="shared-storage-is-kept",
    title="Homes and datasets of production must have backups and be protected from deletion",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.MANDATORY},
    source="EFS user guide, Backing up EFS file systems; Pulumi documentation, resource option protect",
    applies_to=WholeStack(),
    why="A deleted directory, a renamed key in a stack file or a destroy in the wrong stack would end work of months.",
    fix="Leave `backups` out or set it to true, or say `purpose: scratch` if the data can be computed again.",
    check=check,
)
