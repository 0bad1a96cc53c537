"""PL-07: selectors of the lifecycle label use its two values."""

from collections.abc import Iterator

from components.contract.labels import LabelKey
from components.contract.lifecycle import LABEL_VALUES
from policies.cel import VALUES, culprit, every_demand, words, wrong_selector
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.node_choice import demands
from policies.views.pods import USER_PODS, PodFacts


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require valid values wherever a pod selects the lifecycle label."""
    for demand in demands(pod):
        if demand.key == LabelKey.LIFECYCLE:
            for value in demand.values:
                if value not in _LEGAL:
                    yield Finding(f"{pod} selects {demand.key} '{value}'; expected {' or '.join(_LEGAL)}.")


_LEGAL = LABEL_VALUES
_IS_LEGAL = f"demand.key != '{LabelKey.LIFECYCLE}' || {VALUES}.all(value, value in {words(_LEGAL)})"

RULE = Rule(
    id="PL-07",
    slug="lifecycle-is-one-of-two",
    title=f"Lifecycle selectors must be {' or '.join(_LEGAL)}",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="MLRun node affinity, Node Selector",
    applies_to=USER_PODS,
    why="With any other value the pod stays pending, or does not avoid spot nodes as intended.",
    fix=f"Use {LabelKey.LIFECYCLE}: {' or '.join(_LEGAL)}.",
    check=check,
    admission=Admission(
        culprits=f"{wrong_selector(LabelKey.LIFECYCLE, words(_LEGAL))} + "
        + culprit(f"!{every_demand(_IS_LEGAL)}", "'required node affinity'")
    ),
)
