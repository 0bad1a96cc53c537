"""NG-23: the lifecycle label matches the nodes' capacity type."""

from collections.abc import Iterator

from components.contract.labels import LabelKey
from components.contract.lifecycle import LABEL_VALUES
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts
from policies.views.node_groups.remediation import set_true_lifecycle

LEGAL = list(LABEL_VALUES)


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require the label, with a valid value that matches the cloud's setting."""
    found = group.label(LabelKey.LIFECYCLE)
    if found not in LEGAL:
        yield Finding(f"{group} has lifecycle label {found or 'none'}; expected {' or '.join(LEGAL)}.")
    elif group.lifecycle and found != group.lifecycle.label_value:
        yield Finding(
            f"{group} has lifecycle {group.lifecycle} but is labelled {found}; expected {group.lifecycle.label_value}."
        )


RULE = Rule(
    id="NG-23",
    slug="lifecycle-label-is-true",
    title="Nodes must have a lifecycle label that matches their capacity type",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun node affinity, Node Selector",
    applies_to=NODE_GROUPS,
    why="MLRun recognises spot nodes by this label only; a wrong label sends training to nodes that may be reclaimed.",
    fix=f"Set the node label {LabelKey.LIFECYCLE} to match the group's lifecycle.",
    check=check,
    remedy=set_true_lifecycle,
)
