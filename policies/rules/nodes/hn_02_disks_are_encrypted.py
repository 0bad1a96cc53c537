"""HN-02: disks of EKS nodes are encrypted."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.views.node_groups.eks import NODE_GROUP
from policies.views.type_tokens import LAUNCH_TEMPLATE


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Require a launch template for each group, and encryption of each disk in it."""
    if resource.type == NODE_GROUP:
        if resource.props.at("launchTemplate").is_absent:
            yield Finding(f"Node group '{resource.name}' has no launch template; expected one that encrypts its disks.")
        return
    disks = [disk.at("ebs") for disk in resource.props.at("blockDeviceMappings").elements()]
    if not disks:
        yield Finding(f"Launch template '{resource.name}' names no disk; expected the root disk, encrypted.")
    for disk in disks:
        if not disk.is_absent and disk.at("encrypted").text() != "true":
            yield Finding(
                f"Launch template '{resource.name}' ({disk.path}) has an unencrypted disk; expected encrypted: true."
            )


RULE = Rule(
    id="HN-02",
    slug="disks-are-encrypted",
    title="EKS node groups must encrypt their disks in a launch template",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="EKS best practices, security (data encryption at rest)",
    applies_to=resources_of("each EKS node group and each launch template", NODE_GROUP, LAUNCH_TEMPLATE),
    why="Images, scratch data and mounted Secrets are on these disks and on every snapshot of them.",
    fix="Give the group a launch template with blockDeviceMappings[].ebs.encrypted: true.",
    check=check,
)
