"""VO-03: shared storage is encrypted, and its clients come with TLS and through an access point."""

from collections.abc import Iterator

from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.views.shared_storage import CLIENT_POLICY, file_systems, open_statements, parts


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require encryption at rest, and a policy without which any client in the network mounts everything in clear."""
    for files in file_systems(stack):
        if files.props.at("encrypted").flag() is not True:
            yield Finding(f"File system '{files.name}' is not encrypted; expected encrypted: true.", urn=files.urn)
        policies = list(parts(stack, files, CLIENT_POLICY))
        if not policies:
            yield Finding(
                f"File system '{files.name}' has no policy, so that any client in its network mounts all of it; "
                "expected one that requires TLS and an access point.",
                urn=files.urn,
            )
        for policy in policies:
            if count := open_statements(policy):
                yield Finding(
                    f"The policy of file system '{files.name}' has {count} statement(s) that let clients in without "
                    "aws:SecureTransport or without elasticfilesystem:AccessPointArn; expected both conditions.",
                    urn=policy.urn,
                )


RULE = Rule(
    id="VO-03",
    slug="shared-storage-is-closed",
    title="Shared storage must be encrypted, and reached only with TLS and through access points",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="EFS user guide, Using IAM to control access to file systems",
    applies_to=WholeStack(),
    why="A pod of any namespace may mount an NFS server by its address, and would read the data of all namespaces.",
    fix="Set encrypted: true (this replaces the file system), and add a FileSystemPolicy whose statements require "
    "aws:SecureTransport and elasticfilesystem:AccessPointArn.",
    check=check,
)
