"""VO-04: shared storage with data that cannot be recomputed has backups, and in production protection."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.shared_storage import shared_storage


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require backups and protection of each storage that is not for scratch data."""
    for storage in shared_storage(stack):
        if storage.is_kept:
            yield from storage.losses()
            if not storage.resource.protect:
                problem = "is not protected; expected the resource option protect: true."
                yield storage.finding(f"'{storage.resource.name}' {problem}")


RULE = Rule(
    id="VO-04",
    slug="shared-storage-is-kept",
    title="Homes and datasets of production must have backups and be protected from deletion",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.MANDATORY},
    source="EFS user guide, Backing up EFS file systems; FSx for Lustre user guide, Protecting your data with backups; "
    "azure-docs, storage-files-prevent-file-share-deletion; Pulumi documentation, resource option protect",
    applies_to=WholeStack(),
    why="A deleted directory, a renamed key in a stack file or a destroy in the wrong stack would lose months of work.",
    fix="Leave `backups` out or set it to true, or set `purpose: scratch` if the data can be recomputed.",
    check=check,
)
