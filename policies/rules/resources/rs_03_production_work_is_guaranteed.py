"""RS-03: in production, work gets all that it may use."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Admission, Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.volume_claims import CEL_GUARANTEED, unequal


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Recommend requests equal to limits, for CPU and memory."""
    for reason in unequal(pod):
        yield Finding(f"{pod}: {reason}, wanted both, equal and above 0.")


RULE = Rule(
    id="RS-03",
    slug="production-work-is-guaranteed",
    title="Work in production has guaranteed quality of service",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="Iguazio best practices, Requests and Limits (guaranteed QoS for all workloads)",
    applies_to=USER_PODS,
    why="Work that uses more than it requested drives nodes out of memory, and other work out of them.",
    fix="Set CPU and memory requests equal to the limits, in every container.",
    check=check,
    admission=Admission(expression=CEL_GUARANTEED),
)
