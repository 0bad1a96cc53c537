"""EN-02: all nodes of a cluster are for the same environment."""

from collections.abc import Iterator

from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.views.clusters import clusters, groups_of, stated_environment


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand of each group that states an environment that it is its cluster's."""
    for cluster in clusters(stack):
        for group in groups_of(cluster, stack):
            own, wanted = stated_environment(group), stated_environment(cluster)
            if own and wanted and own != wanted:
                yield Finding(
                    f"Node group '{group.name}' is for {own}, its cluster '{cluster.name}' for {wanted}.", urn=group.urn
                )


RULE = Rule(
    id="EN-02",
    slug="groups-share-the-environment",
    title="A cluster and its node groups are for one environment",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Node Groups (separate clusters for development and production)",
    applies_to=WholeStack(),
    why="Groups separate nodes, but development and production would share the control plane, its limits and its end.",
    fix="Move the group to the cluster of its environment, or drop its tag.",
    check=check,
)
