"""PR-05: user pods use user priority classes only."""

from collections.abc import Iterator

from components.contract.priorities import DEFAULT_USER_PRIORITY, UserPriority
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts


def check(pod: PodFacts, _: Context) -> Iterator[Finding]:
    """Require one of the three classes, or none."""
    name = pod.spec.at("priorityClassName").text()
    if name and name not in list(UserPriority):
        yield Finding(f"{pod} has priority class {name}; expected {', '.join(UserPriority)} or none.")


RULE = Rule(
    id="PR-05",
    slug="user-pods-use-user-classes",
    title="User pods must use a user priority class",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Pod Priorities",
    applies_to=USER_PODS,
    why="With a system class, a user's pod would evict core services. Without a class it has priority 0, below low.",
    fix=f"Set priorityClassName: {DEFAULT_USER_PRIORITY}, or another user class. A pod that names none gets the class "
    "with globalDefault: true if the cluster has one (kubectl get priorityclasses): remove the default there.",
    check=check,
    admission=Admission(
        culprits="[variables.spec.?priorityClassName.orValue('')]"
        ".filter(name, name != '' && !(name in params.spec.userClasses)).map(name, 'priorityClassName ' + name)"
    ),
)
