"""NG-19: servers join a cluster through node groups only."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of

MEMBER_TAG: Final = re.compile(r"kubernetes\.io/cluster/.+")
"""Tag that makes an AWS instance a member of a cluster: https://docs.aws.amazon.com/eks/latest/userguide/worker.html.

Azure has no such tag, because its tag names cannot contain a slash.
"""


def check(server: Resource, _: Context) -> Iterator[Finding]:
    """Reject single machines that are tagged as members of a cluster."""
    for key in filter(MEMBER_TAG.fullmatch, server.props.at("tags").keys()):
        yield Finding(f"Instance '{server.name}' joins a cluster by its tag {key}; expected a node group.")


RULE = Rule(
    id="NG-19",
    slug="servers-come-from-groups",
    title="Servers must join a cluster through node groups only",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, provisioning of the servers",
    applies_to=resources_of(
        "each single machine", r"aws:ec2/(instance:Instance|spotInstanceRequest:SpotInstanceRequest)"
    ),
    why="A single server is not upgraded, replaced or labelled, and conflicts with the platform's installer.",
    fix="Add a pool to the stack file instead. If the machine is not a node, remove the tag.",
    check=check,
)
