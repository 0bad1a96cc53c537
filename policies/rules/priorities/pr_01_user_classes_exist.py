"""PR-01: users have all three priority classes to choose from."""

from collections.abc import Iterator
from functools import partial

from components.contract.priorities import UserPriority
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.values import some
from policies.views.node_groups import node_groups
from policies.views.priority_classes import PriorityClassFacts, priority_classes


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand the three classes in each stack that makes nodes or puts anything into a cluster."""
    if not some(stack, lambda r: r.type.startswith("kubernetes:") or any(True for _ in node_groups(r))):
        return
    classes = list(priority_classes(stack))
    missing = [wanted for wanted in UserPriority if not some(classes, partial(_is_named, wanted))]
    if missing:
        yield Finding(f"The stack does not make {', '.join(missing)}, wanted all of {', '.join(UserPriority)}.")


def _is_named(name: str, facts: PriorityClassFacts) -> bool:
    return facts.name == name


RULE = Rule(
    id="PR-01",
    slug="user-classes-exist",
    title="The three priority classes for user work exist",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Pod Priorities",
    applies_to=WholeStack(),
    why="A job that names a class that does not exist is refused; without classes nothing decides who waits.",
    fix="Create the missing classes, as components/scheduling/priority_classes.py does.",
    check=check,
)
