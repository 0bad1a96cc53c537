"""NG-28: nodes of reserved capacity are labelled as such."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require the label that distinguishes reserved nodes from those on demand."""
    found = group.label(LabelKey.RESERVED)
    if group.lifecycle is Lifecycle.RESERVED and found != Lifecycle.RESERVED:
        yield Finding(
            f"{group} has reserved capacity and the label {LabelKey.RESERVED} {found or 'absent'}; expected "
            f"{Lifecycle.RESERVED}."
        )


RULE = Rule(
    id="NG-28",
    slug="reserved-groups-say-so",
    title="Nodes of reserved capacity must be labelled as such",
    severity=Severity.LOW,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="EKS user guide, Create a managed node group with Capacity Blocks for ML",
    applies_to=NODE_GROUPS,
    why="Reserved capacity costs money even without nodes, and a block ends; the platform's own label says on-demand.",
    fix=f"Set the node label {LabelKey.RESERVED}: {Lifecycle.RESERVED}; `lifecycle: reserved` of a pool does so.",
    check=check,
)
