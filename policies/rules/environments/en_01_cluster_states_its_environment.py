"""EN-01: a cluster is tagged as development or production."""

from collections.abc import Iterator

from components.contract.environments import ENVIRONMENT_TAG, Environment
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.clusters import CLUSTERS, stated_environment


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Require the tag, with one of the known environments."""
    found = stated_environment(cluster)
    if found not in set(Environment):
        wanted = " or ".join(Environment)
        yield Finding(f"Cluster '{cluster.name}' has tag {ENVIRONMENT_TAG} {found or 'absent'}; expected {wanted}.")


RULE = Rule(
    id="EN-01",
    slug="cluster-states-its-environment",
    title="A cluster must be tagged with its environment",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Node Groups (separate clusters for development and production)",
    applies_to=CLUSTERS,
    why="Rules that keep development work off production clusters need to know which clusters are production.",
    fix=f"Tag the cluster {ENVIRONMENT_TAG} with {' or '.join(Environment)}.",
    check=check,
)
