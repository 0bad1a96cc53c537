"""NG-25: production has no pool for notebooks, unless it lists services that need one."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.node_groups import of_role, some_group


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Recommend no group of role jupyter where no Jupyter service is listed."""
    if not context.choices.jupyter_services and some_group(stack, of_role(PoolRole.JUPYTER)):
        yield Finding(f"A group has the role {PoolRole.JUPYTER}; expected none in production without listed services.")


RULE = Rule(
    id="NG-25",
    slug="prod-has-no-jupyter-pool",
    title="A production cluster should have no Jupyter pool",
    severity=Severity.LOW,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="Iguazio best practices, Production Cluster",
    applies_to=WholeStack(),
    why="Interactive work belongs on the development cluster; here, its nodes are idle or attract such work.",
    fix="Remove the pool, or list the Jupyter services that production needs under policies.jupyterServices.",
    check=check,
)
