"""PR-06: critical work uses the high priority class."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import TRUE, LabelKey
from components.contract.priorities import UserPriority
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Recommend the high class for pods that are labelled critical."""
    name = pod.spec.at("priorityClassName").text() if pod.label(LabelKey.CRITICAL) == TRUE else UserPriority.HIGH
    if name != UserPriority.HIGH:
        yield Finding(
            f"{pod} is labelled critical but has priority class {name or 'none'}; expected {UserPriority.HIGH}."
        )


RULE = Rule(
    id="PR-06",
    slug="critical-work-is-high",
    title="Critical work should use the high priority class",
    severity=Severity.LOW,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, Pod Priorities",
    applies_to=USER_PODS,
    why="Otherwise it waits behind less important work when nodes are full.",
    fix=f"Set priorityClassName: {UserPriority.HIGH}, or remove the label {LabelKey.CRITICAL}.",
    check=check,
)
