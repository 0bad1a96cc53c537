"""PL-07: who chooses spot or on-demand nodes uses the platform's words."""

from collections.abc import Iterator

from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from policies.cel import VALUES, every_demand, selected, words
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.node_choice import demands
from policies.views.pods import USER_PODS, PodFacts


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Demand the two legal values wherever the pod names some for the lifecycle label."""
    for demand in demands(pod):
        if demand.key == LabelKey.LIFECYCLE:
            for value in demand.values:
                if value not in _LEGAL:
                    yield Finding(f"{pod} asks for {demand.key} '{value}', wanted {' or '.join(_LEGAL)}.")


_LEGAL = tuple(lifecycle.label_value for lifecycle in Lifecycle)
_IS_LEGAL = f"demand.key != '{LabelKey.LIFECYCLE}' || {VALUES}.all(value, value in {words(_LEGAL)})"

RULE = Rule(
    id="PL-07",
    slug="lifecycle-is-one-of-two",
    title=f"Who chooses a lifecycle says {' or '.join(_LEGAL)}",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="MLRun node affinity, Node Selector",
    applies_to=USER_PODS,
    why="No node has another value: the pod waits for ever, or the wish to avoid spot nodes has no effect.",
    fix=f"Write {LabelKey.LIFECYCLE}: {' or '.join(_LEGAL)}.",
    check=check,
    admission=Admission(
        expression=f"{selected(LabelKey.LIFECYCLE)} in {words(('', *_LEGAL))} && {every_demand(_IS_LEGAL)}"
    ),
)
