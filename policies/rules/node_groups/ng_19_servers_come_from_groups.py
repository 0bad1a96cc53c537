"""NG-19: no server joins a cluster by hand."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of

MEMBER_TAG: Final = re.compile(r"kubernetes\.io/cluster/.+")
"""Tag by which an instance on AWS belongs to a cluster: https://docs.aws.amazon.com/eks/latest/userguide/worker.html.

On Azure no tag can say so: names of tags hold no slash there.
"""


def check(server: Resource, _: Context) -> Iterator[Finding]:
    """Demand that no single machine carries the mark of a cluster's member."""
    for key in filter(MEMBER_TAG.fullmatch, server.props.at("tags").keys()):
        yield Finding(f"Instance '{server.name}' joins a cluster by its tag {key}, wanted a node group.")


RULE = Rule(
    id="NG-19",
    slug="servers-come-from-groups",
    title="Servers join a cluster through a node group only",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, provisioning of the servers",
    applies_to=resources_of(
        "each single machine", r"aws:ec2/(instance:Instance|spotInstanceRequest:SpotInstanceRequest)"
    ),
    why="Nobody upgrades, replaces or labels such a server, and the platform's installer expects to make its own.",
    fix="Make a pool in the stack file; a machine that is no node loses the tag.",
    check=check,
)
