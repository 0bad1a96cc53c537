"""PR-03: user priority classes never preempt."""

from collections.abc import Iterator

from components.contract.priorities import PreemptionPolicy
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity, Subject
from policies.views.priority_classes import USER_CLASSES, USER_PREFIX, PriorityClassFacts


def check(facts: PriorityClassFacts, _: Context) -> Iterator[Finding]:
    """Require preemptionPolicy Never; if unset, the class preempts."""
    if facts.preemption_policy != PreemptionPolicy.NEVER:
        found = facts.preemption_policy or f"none, which means {PreemptionPolicy.PREEMPT_LOWER_PRIORITY}"
        yield Finding(f"{facts.name} has preemption policy {found}; expected {PreemptionPolicy.NEVER}.")


RULE = Rule(
    id="PR-03",
    slug="user-classes-never-preempt",
    title="User priority classes must not preempt",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Pod Priorities",
    applies_to=USER_CLASSES,
    why="A higher user class should only be scheduled first, not evict other users' pods.",
    fix=f"Set preemptionPolicy: {PreemptionPolicy.NEVER}. The field is immutable, so the class is replaced.",
    check=check,
    remedy=lambda draft, _: draft.set(PreemptionPolicy.NEVER.value, "preemptionPolicy"),
    admission=Admission(
        expression=f"!object.metadata.name.startsWith('{USER_PREFIX}')"
        f" || object.?preemptionPolicy.orValue('') == '{PreemptionPolicy.NEVER}'",
        subject=Subject.PRIORITY_CLASSES,
    ),
)
