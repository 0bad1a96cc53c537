"""PL-04: user work names pools, never one node."""

from collections.abc import Iterator
from typing import Final

from components.contract.labels import LabelKey, WellKnownLabel
from policies.cel import TERMS, every_demand, words
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.values import some
from policies.views.node_choice import demands, terms
from policies.views.pods import USER_PODS, PodFacts

NODE_LABELS: Final = (WellKnownLabel.HOSTNAME.value, "alpha.eksctl.io/instance-id")
"""Labels whose value is different on every node."""

_DAEMON: Final = "DaemonSet"


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Refuse nodeName, labels of a single node, and node affinity to a node's own fields."""
    if pod.spec.at("nodeName").text():
        yield Finding(f"{pod} sets nodeName, wanted a pool.")
    for demand in demands(pod):
        if demand.key in NODE_LABELS:
            yield Finding(f"{pod} asks for {demand.key}, a label of one node; wanted a label of a pool.")
    # The controller of a DaemonSet gives each of its pods such a field.
    names_node = some(terms(pod), lambda term: bool(term.at("matchFields").elements()))
    if names_node and not some(pod.metadata.at("ownerReferences").elements(), lambda o: o.at("kind").text() == _DAEMON):
        yield Finding(f"{pod} asks for a node's own fields (matchFields), wanted a label of a pool.")


RULE = Rule(
    id="PL-04",
    slug="no-node-by-name",
    title="User work never names a single node",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun node affinity, Node Selector (node specific labels)",
    applies_to=USER_PODS,
    why="Nodes come and go with the autoscaler; a pod bound to one waits for ever, or passes by the scheduler.",
    fix=f"Drop nodeName and select a pool: {LabelKey.USER_WORKLOADS}, {LabelKey.POOL} or {LabelKey.ROLE}.",
    check=check,
    admission=Admission(
        expression="(variables.placed || variables.spec.?nodeName.orValue('') == '')"
        f" && {words(NODE_LABELS)}.all(name, !(name in variables.spec.?nodeSelector.orValue({{}})))"
        f" && {every_demand(f'!(demand.key in {words(NODE_LABELS)})')}"
        f" && ({TERMS}.all(term, term.?matchFields.orValue([]).size() == 0)"
        f" || variables.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == '{_DAEMON}'))"
    ),
)
