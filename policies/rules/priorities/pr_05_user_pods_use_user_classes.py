"""PR-05: user work takes its turn among users, not among core services."""

from collections.abc import Iterator

from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Demand one of the three classes, or none."""
    name = pod.spec.at("priorityClassName").text()
    if name and name not in set(UserPriority):
        yield Finding(f"{pod} has priority class {name}, wanted {', '.join(UserPriority)} or none.")


RULE = Rule(
    id="PR-05",
    slug="user-pods-use-user-classes",
    title="Pods of user work use the classes for user work",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Pod Priorities",
    applies_to=USER_PODS,
    why="With a class of the platform or of Kubernetes, a user's pod evicts core services when room is short.",
    fix=f"Set priorityClassName: {DEFAULT_USER_PRIORITY}, or another class for user work.",
    check=check,
    admission=Admission(
        expression="variables.spec.?priorityClassName.orValue('') == ''"
        " || variables.spec.priorityClassName in params.spec.userClasses"
    ),
)
