"""RS-04: work that must finish has guaranteed quality of service."""

from collections.abc import Iterator

from components.contract.labels import GUARANTEED, LabelKey
from policies.cel import label
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.volume_claims import CEL_UNEQUAL, unequal


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require requests equal to limits for CPU and memory on pods with the completion label."""
    if pod.label(LabelKey.COMPLETION.value) == GUARANTEED:
        for reason in unequal(pod):
            yield Finding(f"{pod} must finish, but {reason}; expected both equal and above 0.")


RULE = Rule(
    id="RS-04",
    slug="must-finish-work-is-guaranteed",
    title="Work that must finish must have guaranteed quality of service",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Requests and Limits (workloads whose completion must be guaranteed)",
    applies_to=USER_PODS,
    why="On a node short of memory, guaranteed pods are evicted last.",
    fix=f"Set CPU and memory requests equal to their limits, or remove the label {LabelKey.COMPLETION}.",
    check=check,
    admission=Admission(culprits=f"{label(LabelKey.COMPLETION)} != '{GUARANTEED}' ? [] : {CEL_UNEQUAL}"),
)
