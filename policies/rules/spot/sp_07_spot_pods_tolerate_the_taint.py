"""SP-07: pods that select spot nodes tolerate their taint."""

from collections.abc import Iterator

from components.contract.clusters import SPOT_TAINTS
from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from policies.cel import TOLERATIONS, VALUES, every_term, selected
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.values import NotJudgeableError, are_among
from policies.views.corrections import is_given_toleration
from policies.views.node_choice import Demand, always, tolerated_keys
from policies.views.pods import USER_PODS, PodFacts

_SPOT = Lifecycle.SPOT.label_value
_KEYS = tuple(taint.key for taint in SPOT_TAINTS)


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Recommend the toleration to pods that may run on spot nodes only and are not given it."""
    if not always(pod, _demands_spot) or is_given_toleration(pod, context):
        return
    tolerated = list(tolerated_keys(pod))
    if context.spot_taint_keys is None and not any(key in ("", *_KEYS) for key in tolerated):
        raise NotJudgeableError(LabelKey.LIFECYCLE, "selects spot nodes, whose taint is unknown without a stack file")
    for wanted in context.spot_taint_keys or ():
        if not any(key in ("", wanted) for key in tolerated):
            yield Finding(
                f"{pod} selects spot nodes but does not tolerate their taint {wanted}; expected a toleration."
            )


def _demands_spot(demand: Demand) -> bool:
    wanted = demand.wants(LabelKey.LIFECYCLE)
    return bool(wanted) and are_among(wanted, (_SPOT,))


_DEMANDS = f"demand.key == '{LabelKey.LIFECYCLE}' && demand.operator == 'In' && {VALUES}.all(value, value == '{_SPOT}')"

RULE = Rule(
    id="SP-07",
    slug="spot-pods-tolerate-the-taint",
    title="Pods that select spot nodes should tolerate their taint",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="MLRun node affinity, Node Selector",
    applies_to=USER_PODS,
    why="The selector alone matches only nodes whose taint keeps the pod off, so it stays pending forever.",
    fix="Use MLRun's preemption mode constrain instead of the selector, or add the toleration of the spot taint.",
    check=check,
    admission=Admission(
        expression=f"!({selected(LabelKey.LIFECYCLE)} == '{_SPOT}' || {every_term(_DEMANDS)})"
        f" || params.spec.spotTaintKeys.all(key, {TOLERATIONS}.exists(toleration,"
        " toleration.?key.orValue('') == '' || toleration.?key.orValue('') == key))"
    ),
)
