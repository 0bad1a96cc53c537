"""PR-02: priorities are ordered, and core services rank above users."""

from collections.abc import Iterator
from itertools import pairwise

from components.contract.priorities import USER_PRIORITY_LIMIT, UserPriority
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.views.priority_classes import SYSTEM_PREFIX, priority_classes


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require 0 <= low < medium < high < limit, and every system class above every user class.

    Adopted classes that keep their owner's value are left out: the stack does not set it.
    """
    values = {facts.name: facts.value for facts in priority_classes(stack) if not facts.keeps_owners_value}
    users = {name.value: values[name] for name in UserPriority if name in values}
    system = {name: value for name, value in values.items() if name.startswith(SYSTEM_PREFIX)}
    for lower, higher in pairwise(users):
        if users[lower] >= users[higher]:
            yield Finding(f"{lower} has the value {users[lower]}; expected less than {higher} with {users[higher]}.")
    for name, value in users.items():
        if not 0 <= value < USER_PRIORITY_LIMIT:
            yield Finding(f"{name} has the value {value}; expected at least 0 and less than {USER_PRIORITY_LIMIT}.")
    for name, value in system.items():
        if users and value <= max(users.values()):
            yield Finding(f"{name} has the value {value}; expected more than every user class ({max(users.values())}).")


RULE = Rule(
    id="PR-02",
    slug="priorities-are-ordered",
    title="Priorities must rise from low to high, with system classes above",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="MLRun job resources, Pod priority for user jobs",
    applies_to=WholeStack(),
    why="The scheduler orders and evicts pods by these values, not by the class names.",
    fix="Use the values of components/contract/priorities.py.",
    check=check,
)
