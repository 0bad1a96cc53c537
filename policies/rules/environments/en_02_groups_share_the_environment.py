"""EN-02: all node groups of a cluster belong to one environment."""

from collections.abc import Iterator

from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.views.clusters import clusters, groups_of, stated_environment


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require that a group's environment, where tagged, equals its cluster's."""
    for cluster in clusters(stack):
        for group in groups_of(cluster, stack):
            own, wanted = stated_environment(group), stated_environment(cluster)
            if own and wanted and own != wanted:
                yield Finding(
                    f"Node group '{group.name}' is tagged {own}, but its cluster '{cluster.name}' is {wanted}.",
                    urn=group.urn,
                )


RULE = Rule(
    id="EN-02",
    slug="groups-share-the-environment",
    title="A cluster and its node groups must belong to the same environment",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Node Groups (separate clusters for development and production)",
    applies_to=WholeStack(),
    why="Separate node groups still share one control plane, with its limits and its failures.",
    fix="Move the group to a cluster of its environment, or remove its tag.",
    check=check,
)
