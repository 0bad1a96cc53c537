"""NG-02: a cluster has a group for the core services."""

from collections.abc import Iterator

from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.views.node_groups import makes_groups, of_role, some_group


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand an initial group in each stack that makes node groups at all."""
    if makes_groups(stack) and not some_group(stack, of_role(PoolRole.INITIAL)):
        yield Finding(f"The stack makes node groups, but none of role {PoolRole.INITIAL}.")


RULE = Rule(
    id="NG-02",
    slug="initial-group-exists",
    title="A cluster with node groups has an initial group",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Development Cluster and Production Cluster",
    applies_to=WholeStack(),
    why="The core services need nodes that are always there; user pools come and go.",
    fix=f"Add a static, on-demand pool of role {PoolRole.INITIAL} (node label {LabelKey.ROLE}).",
    check=check,
)
