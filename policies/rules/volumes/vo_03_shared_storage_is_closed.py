"""VO-03: shared storage is encrypted, and closed to all but its clients."""

from collections.abc import Iterator

from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.views.shared_storage import shared_storage


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require encryption, and that neither a key nor network access alone is enough to read the data."""
    for storage in shared_storage(stack):
        yield from storage.openings()


RULE = Rule(
    id="VO-03",
    slug="shared-storage-is-closed",
    title="Shared storage must be encrypted, and closed to clients without TLS and from other networks",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="EFS user guide, Using IAM to control access to file systems; FSx for Lustre user guide, File system access "
    "control with Amazon VPC; azurefile-csi-driver, deploy/example/nfs/README.md",
    applies_to=WholeStack(),
    why="A pod of any namespace may mount an NFS server by its address, and could read the data of all namespaces.",
    fix="EFS: set encrypted: true (this replaces the file system), and add a FileSystemPolicy whose statements require "
    "aws:SecureTransport and elasticfilesystem:AccessPointArn. Lustre: name a group in securityGroupIds that admits "
    "the VPC only. Azure: set enableHttpsTrafficOnly: true, allowSharedKeyAccess: false and "
    "networkRuleSet.defaultAction: Deny.",
    check=check,
)
