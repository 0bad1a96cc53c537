"""SP-02: pods on spot nodes declare a restart plan."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import AnnotationKey
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.spot import (
    HAS_RESTART_PLAN,
    MAY_RUN_ON_SPOT,
    has_restart_plan,
    made_by,
    makers,
    may_run_on_spot,
)

_SELF_HEALING = ("DaemonSet", "Deployment", "NuclioFunction", "ReplicaSet", "ReplicationController", "StatefulSet")
"""Controllers that recreate their pods without limit."""


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require a plan from pods that may run on spot nodes and are not recreated by a controller."""
    if makers(pod) & set(_SELF_HEALING) or not may_run_on_spot(pod):
        return
    if not has_restart_plan(pod):
        found = "an invalid restart plan" if pod.annotation(AnnotationKey.RESTART_PLAN.value) else "no restart plan"
        yield Finding(
            f"{pod} may run on spot nodes but has {found} in the annotation {AnnotationKey.RESTART_PLAN}; "
            "expected retry, checkpoint:PATH or manual:WHO."
        )


RULE = Rule(
    id="SP-02",
    slug="spot-work-has-a-restart-plan",
    title="Spot pods should declare a restart plan",
    severity=Severity.MEDIUM,
    # MLRun annotates no pod by itself, and its preemption mode is the author's choice.
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Spot vs. On-demand Usage",
    applies_to=USER_PODS,
    why="A job whose node is reclaimed is not restarted, so without a plan its work is lost.",
    fix=f"Annotate the pods with {AnnotationKey.RESTART_PLAN}: retry if their controller retries (backoffLimit), "
    "checkpoint:PATH or manual:WHO; or do not run on spot nodes.",
    check=check,
    admission=Admission(
        expression=f"{made_by(_SELF_HEALING)} || !{MAY_RUN_ON_SPOT} || {HAS_RESTART_PLAN}",
    ),
)
