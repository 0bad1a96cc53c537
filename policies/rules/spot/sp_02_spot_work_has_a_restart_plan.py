"""SP-02: whoever goes to spot nodes knows how the work goes on when the node is gone."""

import re
from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import RESTART_PLAN_PATTERN, AnnotationKey
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.spot import MAY_RUN_ON_SPOT, made_by, makers, may_run_on_spot

_SELF_HEALING = ("DaemonSet", "Deployment", "NuclioFunction", "ReplicaSet", "ReplicationController", "StatefulSet")
"""Whose pods Kubernetes makes again for ever."""


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Demand a plan from pods that may run on spot nodes and that nothing brings back by itself."""
    if makers(pod) & set(_SELF_HEALING) or not may_run_on_spot(pod):
        return
    plan = pod.annotation(AnnotationKey.RESTART_PLAN)
    if not re.match(RESTART_PLAN_PATTERN, plan or ""):
        found = "an unknown kind of plan" if plan else "none"
        yield Finding(
            f"{pod} may run on spot nodes and has {found} in the annotation {AnnotationKey.RESTART_PLAN}, "
            "wanted retry, checkpoint:PATH or manual:WHO."
        )


RULE = Rule(
    id="SP-02",
    slug="spot-work-has-a-restart-plan",
    title="Work on spot nodes says how it is started again",
    severity=Severity.MEDIUM,
    # MLRun annotates no pod by itself: in development its spot modes must work as they come.
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Spot vs. On-demand Usage",
    applies_to=USER_PODS,
    why="A job whose node is reclaimed is not restarted: without a plan it is simply lost.",
    fix=f"Annotate the pods with {AnnotationKey.RESTART_PLAN}: retry where their maker tries again (backoffLimit), "
    "checkpoint:PATH or manual:WHO; or stay off spot nodes.",
    check=check,
    admission=Admission(
        expression=f"{made_by(_SELF_HEALING)} || !{MAY_RUN_ON_SPOT}"
        f" || variables.metadata.?annotations['{AnnotationKey.RESTART_PLAN}'].orValue('')"
        f".matches('{RESTART_PLAN_PATTERN}')"
    ),
)
