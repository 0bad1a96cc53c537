"""NG-02: every cluster has an initial group for core services."""

from collections.abc import Iterator

from components.contract.labels import LabelKey
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.views.node_groups import makes_groups, of_role, some_group


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require an initial group in each stack that creates node groups."""
    if makes_groups(stack) and not some_group(stack, of_role(PoolRole.INITIAL)):
        yield Finding(f"The stack creates node groups, but none has the role {PoolRole.INITIAL}.")


RULE = Rule(
    id="NG-02",
    slug="initial-group-exists",
    title="A cluster with node groups must have an initial group",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Development Cluster and Production Cluster",
    applies_to=WholeStack(),
    why="Core services need nodes that are always available; user pools scale up and down.",
    fix=f"Add a static, on-demand pool of role {PoolRole.INITIAL} (node label {LabelKey.ROLE}).",
    check=check,
)
