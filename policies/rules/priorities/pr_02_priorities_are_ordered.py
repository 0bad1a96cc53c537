"""PR-02: low, medium and high mean what they say, and core services come first."""

from collections.abc import Iterator
from itertools import pairwise

from components.contract.priorities import USER_PRIORITY_LIMIT, UserPriority
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.views.priority_classes import SYSTEM_PREFIX, priority_classes


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand 0 <= low < medium < high < limit, and every system class above every user class."""
    values = {facts.name: facts.value for facts in priority_classes(stack)}
    users = {name.value: values[name] for name in UserPriority if name in values}
    system = {name: value for name, value in values.items() if name.startswith(SYSTEM_PREFIX)}
    for lower, higher in pairwise(users):
        if users[lower] >= users[higher]:
            yield Finding(f"{lower} has {users[lower]}, wanted less than {higher} with {users[higher]}.")
    for name, value in users.items():
        if not 0 <= value < USER_PRIORITY_LIMIT:
            yield Finding(f"{name} has {value}, wanted 0 or more and less than {USER_PRIORITY_LIMIT}.")
    for name, value in system.items():
        if users and value <= max(users.values()):
            yield Finding(f"{name} has {value}, wanted more than every user class ({max(users.values())}).")


RULE = Rule(
    id="PR-02",
    slug="priorities-are-ordered",
    title="Priorities rise from low to high, and system classes are above",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Pod priority for user jobs",
    applies_to=WholeStack(),
    why="Waiting work is served, and running work evicted, by these numbers; the names alone mean nothing.",
    fix="Take the values from components/contract/priorities.py.",
    check=check,
)
