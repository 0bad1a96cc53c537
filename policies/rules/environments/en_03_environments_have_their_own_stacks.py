"""EN-03: development and production are in different stacks."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.clusters import clusters, stated_environment


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require that all clusters of a stack have the same environment."""
    found = {cluster.name: stated_environment(cluster) for cluster in clusters(stack)}
    if len(set(found.values()) - {None}) > 1:
        listed = ", ".join(f"'{name}' ({environment or 'no environment'})" for name, environment in found.items())
        yield Finding(f"The stack holds clusters of several environments: {listed}; expected one environment.")


RULE = Rule(
    id="EN-03",
    slug="environments-have-their-own-stacks",
    title="A stack must hold clusters of one environment only",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Node Groups (separate clusters for development and production)",
    applies_to=WholeStack(),
    why="An experiment in development would be planned, locked and rolled out together with production.",
    fix="Create one stack per environment.",
    check=check,
)
