"""PR-01: the three user priority classes exist."""

from collections.abc import Iterator
from functools import partial

from components.contract.priorities import UserPriority
from policies.resource import Stack
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, WholeStack
from policies.values import some
from policies.views.node_groups import node_groups
from policies.views.priority_classes import PriorityClassFacts, priority_classes


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require the three classes in each stack that creates nodes or cluster objects."""
    if not some(stack, lambda r: r.type.startswith("kubernetes:") or any(True for _ in node_groups(r))):
        return
    classes = list(priority_classes(stack))
    missing = [wanted for wanted in UserPriority if not some(classes, partial(_is_named, wanted))]
    if missing:
        yield Finding(f"The stack does not create {', '.join(missing)}; expected all of {', '.join(UserPriority)}.")


def _is_named(name: str, facts: PriorityClassFacts) -> bool:
    return facts.name == name


RULE = Rule(
    id="PR-01",
    slug="user-classes-exist",
    title="The three user priority classes must exist",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Pod Priorities",
    applies_to=WholeStack(),
    why="A pod with an unknown class is rejected, and without classes all work has the same priority.",
    fix="Create the missing classes; see components/scheduling/priority_classes.py.",
    check=check,
)
