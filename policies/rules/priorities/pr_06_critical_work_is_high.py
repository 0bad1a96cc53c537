"""PR-06: work that others wait for is placed first."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import TRUE, LabelKey
from components.contract.priorities import UserPriority
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Demand the highest class for users from pods whose author calls them critical."""
    name = pod.spec.at("priorityClassName").text() if pod.label(LabelKey.CRITICAL) == TRUE else UserPriority.HIGH
    if name != UserPriority.HIGH:
        yield Finding(f"{pod} is critical and has priority class {name or 'none'}, wanted {UserPriority.HIGH}.")


RULE = Rule(
    id="PR-06",
    slug="critical-work-is-high",
    title="Critical work has the high priority class",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Pod Priorities",
    applies_to=USER_PODS,
    why="When nodes are full, it waits behind work that nobody waits for.",
    fix=f"Set priorityClassName: {UserPriority.HIGH}, or drop the label {LabelKey.CRITICAL}.",
    check=check,
)
