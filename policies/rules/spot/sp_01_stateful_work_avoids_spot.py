"""SP-01: stateful and training work avoids spot nodes."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.operators import MPI_ROLE_LABELS
from policies.views.pods import USER_PODS, PodFacts
from policies.views.spot import MAY_RUN_ON_SPOT, made_by, makers, may_run_on_spot

_MLRUN_CLASS = "mlrun/class"
_TRAINING = ("job", "mpijob", "spark")
"""Kinds of MLRun functions that are not restarted after the loss of their node."""
_OPERATORS_LABELS = (*MPI_ROLE_LABELS, "spark-role")
_STATEFUL = ("StatefulSet",)


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require that such pods neither select nor tolerate spot nodes."""
    if (kind := _stateful_kind(pod)) and may_run_on_spot(pod):
        yield Finding(f"{pod} is {kind} and may run on spot nodes; expected on-demand nodes.")


def _stateful_kind(pod: PodFacts) -> str | None:
    if makers(pod) & set(_STATEFUL):
        return "a StatefulSet's"
    if any(pod.label(key) for key in _OPERATORS_LABELS):
        return "a Spark or MPI job's"
    return "an MLRun job's" if pod.label(_MLRUN_CLASS) in _TRAINING else None


_LABELS = "variables.metadata.?labels"
_IS_STATEFUL = " || ".join(
    [
        made_by(_STATEFUL),
        *(f"{_LABELS}['{key}'].orValue('') != ''" for key in _OPERATORS_LABELS),
        f"{_LABELS}['{_MLRUN_CLASS}'].orValue('') in {list(_TRAINING)}",
    ]
)

RULE = Rule(
    id="SP-01",
    slug="stateful-work-avoids-spot",
    title="Stateful and training work must not run on spot nodes",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Spot vs. On-demand Usage",
    applies_to=USER_PODS,
    why="The cloud reclaims spot nodes at short notice, and such work is not restarted.",
    fix=f"Remove the spot toleration or selector, select {LabelKey.LIFECYCLE}: {Lifecycle.ON_DEMAND.label_value}, "
    "or use MLRun's preemption mode prevent.",
    check=check,
    admission=Admission(expression=f"!(({_IS_STATEFUL}) && {MAY_RUN_ON_SPOT})"),
)
