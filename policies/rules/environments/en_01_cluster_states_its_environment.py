"""EN-01: a cluster says whether it is for development or for production."""

from collections.abc import Iterator

from components.contract.environments import ENVIRONMENT_TAG, Environment
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.clusters import CLUSTERS, stated_environment


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Demand the tag, with one of the contract's words."""
    found = stated_environment(cluster)
    if found not in set(Environment):
        wanted = " or ".join(Environment)
        yield Finding(f"Cluster '{cluster.name}' has tag {ENVIRONMENT_TAG} {found or 'absent'}, wanted {wanted}.")


RULE = Rule(
    id="EN-01",
    slug="cluster-states-its-environment",
    title="A cluster is tagged with its environment",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Node Groups (separate clusters for development and production)",
    applies_to=CLUSTERS,
    why="Nobody can keep development work off a cluster that does not say what it is for.",
    fix=f"Tag the cluster {ENVIRONMENT_TAG} with {' or '.join(Environment)}.",
    check=check,
)
