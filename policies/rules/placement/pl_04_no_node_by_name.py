"""PL-04: user pods select pools, never a single node."""

from collections.abc import Iterator
from typing import Final

from components.contract.labels import LabelKey, WellKnownLabel
from components.contract.pod_security import DAEMON_SET_CONTROLLER
from policies.cel import TERMS, culprit, every_demand, words
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.values import some
from policies.views.node_choice import demands, terms
from policies.views.pods import USER_PODS, PodFacts

NODE_LABELS: Final = (WellKnownLabel.HOSTNAME.value, "alpha.eksctl.io/instance-id")
"""Labels with a different value on every node."""

_EXCUSED: Final = (
    # The DaemonSet controller sets such a field in each of its pods. The user of the request decides, because
    # any user can write an owner reference.
    f"request.userInfo.username == '{DAEMON_SET_CONTROLLER}' || request.resource.resource == 'pods' && variables.placed"
    " && dyn(oldObject).spec.?affinity.orValue({}) == dyn(object).spec.?affinity.orValue({})"
)


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Reject nodeName, labels of a single node, and node affinity to node fields."""
    if pod.spec.at("nodeName").text():
        yield Finding(f"{pod} sets nodeName; expected a pool.")
    for demand in demands(pod):
        if demand.key in NODE_LABELS:
            yield Finding(f"{pod} selects {demand.key}, a label of one node; expected a label of a pool.")
    if some(terms(pod), lambda term: bool(term.at("matchFields").elements())):
        yield Finding(f"{pod} selects a node by its fields (matchFields); expected a label of a pool.")


RULE = Rule(
    id="PL-04",
    slug="no-node-by-name",
    title="User pods must not select a single node",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun node affinity, Node Selector (node specific labels)",
    applies_to=USER_PODS,
    why="The autoscaler adds and removes nodes. A pod bound to one may stay pending forever, or bypass the scheduler.",
    fix=f"Remove nodeName and select a pool with {LabelKey.USER_WORKLOADS}, {LabelKey.POOL} or {LabelKey.ROLE}.",
    check=check,
    admission=Admission(
        culprits=" + ".join(
            [
                culprit("!variables.placed && variables.spec.?nodeName.orValue('') != ''", "'nodeName'"),
                (
                    f"{words(NODE_LABELS)}.filter(name, name in variables.spec.?nodeSelector.orValue({{}}))"
                    ".map(name, 'nodeSelector ' + name)"
                ),
                culprit(
                    f"!({every_demand(f'!(demand.key in {words(NODE_LABELS)})')}"
                    f" && ({TERMS}.all(term, term.?matchFields.orValue([]).size() == 0) || {_EXCUSED}))",
                    "'required node affinity'",
                ),
            ]
        )
    ),
)
