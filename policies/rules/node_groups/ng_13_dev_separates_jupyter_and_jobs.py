"""NG-13: in development, notebooks and jobs have separate pools."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.node_groups import makes_groups, of_role, some_group

WORK: Final = {role: role.separate_work for role in PoolRole if role.separate_work}


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require a group of each role, in any number of zones."""
    if not makes_groups(stack):
        return
    for role, work in WORK.items():
        if not some_group(stack, of_role(role)):
            yield Finding(f"No group has the role {role}: {work} share nodes with other work.")


RULE = Rule(
    id="NG-13",
    slug="dev-separates-jupyter-and-jobs",
    title="A development cluster should have separate pools for notebooks and for jobs",
    severity=Severity.LOW,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.OFF},
    source="Iguazio best practices, Development Cluster",
    applies_to=WholeStack(),
    why="An idle notebook would keep alive a machine that was started for a short job.",
    fix=f"Add a pool of role {' and one of role '.join(WORK)}.",
    check=check,
)
