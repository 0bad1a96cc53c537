"""RS-03: production work has guaranteed quality of service."""

from collections.abc import Iterator

from components.contract.default_resources import IS_BUILD
from components.contract.environments import Environment
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.volume_claims import CEL_UNEQUAL, is_build, unequal


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Recommend requests equal to limits for CPU and memory; image builds need no limits."""
    for reason in unequal(pod):
        if not is_build(pod):
            yield Finding(f"{pod}: {reason}; expected both equal and above 0.")


RULE = Rule(
    id="RS-03",
    slug="production-work-is-guaranteed",
    title="Work in production should have guaranteed quality of service",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="Iguazio best practices, Requests and Limits (guaranteed QoS for all workloads)",
    applies_to=USER_PODS,
    why="Pods that use more memory than they request exhaust nodes and cause evictions.",
    fix="Set CPU and memory requests equal to their limits in every container.",
    check=check,
    admission=Admission(culprits=f"{IS_BUILD} ? [] : {CEL_UNEQUAL}"),
)
