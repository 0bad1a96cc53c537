"""PR-08: placeholders of headroom come last, no scheduler places them, and no other pod names their scheduler."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.headroom import HEADROOM, PRIORITY_MIN
from components.contract.priorities import PreemptionPolicy
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Admission, Context, Finding, Rule, Severity, resources_of
from policies.views.objects import known_name
from policies.views.pods import PODS, PodFacts, pods
from policies.views.priority_classes import PRIORITY_CLASS, PriorityClassFacts, is_priority_class

_SCHEDULER: Final = "schedulerName"


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Require a class below all others, and placeholders that name it and wait for a scheduler that does not exist."""
    if is_priority_class(resource) and known_name(resource) == HEADROOM:
        yield from _class(PriorityClassFacts(resource))
    for pod in pods(resource):
        yield from _placeholder(pod) if pod.is_placeholder else _elsewhere(pod)


def _class(facts: PriorityClassFacts) -> Iterator[Finding]:
    if not PRIORITY_MIN <= facts.value < 0:
        yield Finding(f"{facts.name} has the value {facts.value}; expected {PRIORITY_MIN} to -1.")
    if facts.preemption_policy != PreemptionPolicy.NEVER:
        found = facts.preemption_policy or f"none, which means {PreemptionPolicy.PREEMPT_LOWER_PRIORITY}"
        yield Finding(f"{facts.name} has preemption policy {found}; expected {PreemptionPolicy.NEVER}.")


def _placeholder(pod: PodFacts) -> Iterator[Finding]:
    for field in (_SCHEDULER, "priorityClassName"):
        found = pod.spec.at(field).text()
        if found != HEADROOM:
            yield Finding(f"{pod} in namespace {HEADROOM} has {field} {found or 'absent'}; expected {HEADROOM}.")


def _elsewhere(pod: PodFacts) -> Iterator[Finding]:
    if pod.spec.at(_SCHEDULER).text() == HEADROOM:
        yield Finding(
            f"{pod} has {_SCHEDULER} {HEADROOM}, which places no pod; expected none, or namespace {HEADROOM}."
        )


RULE = Rule(
    id="PR-08",
    slug="placeholders-hold-no-room",
    title=f"Placeholders of headroom must come last and wait for scheduler {HEADROOM}, which no other pod may name",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Pod Priorities",
    applies_to=resources_of(
        f"the priority class {HEADROOM}, and each pod of a stack", re.escape(PRIORITY_CLASS), PODS.types.pattern
    ),
    why="User classes never evict: a placeholder on a node would keep out the very pods that it keeps room for. "
    "Another pod with their scheduler never starts, and the autoscaler keeps nodes for it.",
    fix=f"Remove {_SCHEDULER}: {HEADROOM} from a pod of your own. The key `headroom` of a pool creates placeholders.",
    check=check,
    admission=Admission(
        # Placeholders are not in user namespaces, where PR-05 rejects their class.
        expression=f"variables.spec.?{_SCHEDULER}.orValue('') != '{HEADROOM}'",
        spares_core_services=False,
    ),
)
