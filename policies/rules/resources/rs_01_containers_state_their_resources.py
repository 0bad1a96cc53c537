"""RS-01: every container sets requests and a memory limit."""

from collections.abc import Iterator

from components.contract.default_resources import IS_BUILD
from components.contract.environments import Environment
from components.contract.pod_resources import EXPECTED
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.volume_claims import CONTAINERS, cel_claim, containers, is_build, whole


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require CPU and memory requests and a memory limit, per container or for the whole pod; builds need no limit."""
    for side, name in EXPECTED:
        silent = [str(claims) for claims in containers(pod) if claims.claim(side, name) is None]
        if silent and whole(pod).claim(side, name) is None and not (side == "limits" and is_build(pod)):
            yield Finding(f"{pod}: {', '.join(silent)} has no {side}.{name}; expected one.")


def _silent(side: str, name: str) -> str:
    whole_pod, container = (f"{cel_claim(owner, side, name)}.hasValue()" for owner in ("variables.spec", "c"))
    excuse = f"{IS_BUILD} || {whole_pod}" if side == "limits" else whole_pod
    named = f"'container ' + string(c.name) + ' (resources.{side}.{name})'"
    return f"({excuse} ? [] : {CONTAINERS}.filter(c, !{container}).map(c, {named}))"


RULE = Rule(
    id="RS-01",
    slug="containers-state-their-resources",
    title="Containers must set CPU and memory requests and a memory limit",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="MLRun job resources, CPU, GPU, and memory limits for user jobs",
    applies_to=USER_PODS,
    why="Scheduler and autoscaler plan by requests. A container without them is placed anywhere, is evicted "
    "first, and may take a whole node's memory.",
    fix="Set resources.requests.cpu, resources.requests.memory and resources.limits.memory (in MLRun: with_requests "
    "and with_limits).",
    check=check,
    admission=Admission(culprits=" + ".join(_silent(side, name) for side, name in EXPECTED)),
)
