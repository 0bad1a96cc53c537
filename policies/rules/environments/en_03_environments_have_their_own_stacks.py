"""EN-03: development and production are not changed by the same run."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.clusters import clusters, stated_environment


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand that all clusters of a stack state the same environment."""
    found = {cluster.name: stated_environment(cluster) for cluster in clusters(stack)}
    if len(set(found.values()) - {None}) > 1:
        listed = ", ".join(f"'{name}' ({environment or 'unstated'})" for name, environment in found.items())
        yield Finding(f"The stack holds clusters of several environments: {listed}, wanted one environment.")


RULE = Rule(
    id="EN-03",
    slug="environments-have-their-own-stacks",
    title="A stack holds clusters of one environment",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Node Groups (separate clusters for development and production)",
    applies_to=WholeStack(),
    why="A trial in development would be planned, locked and rolled out together with production.",
    fix="Make a stack for each environment.",
    check=check,
)
