"""NG-23: the lifecycle label says how the nodes are really bought."""

from collections.abc import Iterator

from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts
from policies.views.node_groups.remediation import set_true_lifecycle

LEGAL = [lifecycle.label_value for lifecycle in Lifecycle]


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Demand the label, with a legal value that agrees with what the cloud is told."""
    found = group.label(LabelKey.LIFECYCLE)
    if found not in LEGAL:
        yield Finding(f"{group} has lifecycle label {found or 'none'}, wanted {' or '.join(LEGAL)}.")
    elif group.lifecycle and found != group.lifecycle.label_value:
        yield Finding(f"{group} is {group.lifecycle} but labelled {found}, wanted {group.lifecycle.label_value}.")


RULE = Rule(
    id="NG-23",
    slug="lifecycle-label-is-true",
    title="The lifecycle label is present, legal and true",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun node affinity, Node Selector",
    applies_to=NODE_GROUPS,
    why="MLRun places work on or off spot nodes by this label alone; a wrong one sends training to nodes that vanish.",
    fix=f"Label the nodes {LabelKey.LIFECYCLE} to match how they are bought.",
    check=check,
    remedy=set_true_lifecycle,
)
