"""PR-03: user work waits for room and evicts nothing."""

from collections.abc import Iterator

from components.contract.priorities import PreemptionPolicy
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity, Subject
from policies.views.priority_classes import USER_CLASSES, USER_PREFIX, PriorityClassFacts


def check(facts: PriorityClassFacts, _: Context) -> Iterator[Finding]:
    """Demand that the class says Never; saying nothing means that it preempts."""
    if facts.preemption_policy != PreemptionPolicy.NEVER:
        found = facts.preemption_policy or f"none, which means {PreemptionPolicy.PREEMPT_LOWER_PRIORITY}"
        yield Finding(f"{facts.name} has preemption policy {found}, wanted {PreemptionPolicy.NEVER}.")


RULE = Rule(
    id="PR-03",
    slug="user-classes-never-preempt",
    title="User priority classes never preempt",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Pod Priorities",
    applies_to=USER_CLASSES,
    why="A user's pod must not be able to evict another pod; a higher class is only placed first.",
    fix=f"Set preemptionPolicy: {PreemptionPolicy.NEVER}. It is immutable: the class is replaced.",
    check=check,
    remedy=lambda draft, _: draft.set(PreemptionPolicy.NEVER.value, "preemptionPolicy"),
    admission=Admission(
        expression=f"!object.metadata.name.startsWith('{USER_PREFIX}')"
        f" || object.?preemptionPolicy.orValue('') == '{PreemptionPolicy.NEVER}'",
        subject=Subject.PRIORITY_CLASSES,
    ),
)
