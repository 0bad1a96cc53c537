"""SP-01: stateful work on spot nodes has a restart plan."""

from collections.abc import Callable, Iterator

from components.contract.environments import Environment
from components.contract.labels import AnnotationKey
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.values import some
from policies.views.pods import USER_PODS, PodFacts
from policies.views.spot import HAS_RESTART_PLAN, MAY_RUN_ON_SPOT, has_restart_plan, may_run_on_spot
from policies.views.stateful import IS_STATEFUL, stateful_kind


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require a plan from stateful pods that may run on spot nodes."""
    excuses: tuple[Callable[[], bool], ...] = (
        lambda: not may_run_on_spot(pod),
        lambda: stateful_kind(pod) is None,
        lambda: has_restart_plan(pod),
    )
    if not some(excuses, lambda holds: holds()):
        kind = stateful_kind(pod)
        yield Finding(f"{pod} {kind} and may run on spot nodes; expected on-demand nodes or a restart plan.")


RULE = Rule(
    id="SP-01",
    slug="stateful-work-avoids-spot",
    title="Stateful work must not run on spot nodes without a restart plan",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Spot vs. On-demand Usage",
    applies_to=USER_PODS,
    why="The cloud reclaims spot nodes at short notice, in the middle of a write.",
    fix="Use MLRun's preemption mode prevent, or remove the spot selector and toleration; or annotate the pods with "
    f"{AnnotationKey.RESTART_PLAN}: retry, checkpoint:PATH or manual:WHO.",
    check=check,
    admission=Admission(expression=f"!({MAY_RUN_ON_SPOT} && {IS_STATEFUL}) || {HAS_RESTART_PLAN}"),
)
