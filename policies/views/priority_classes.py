"""Priority classes as rules see them."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.priorities import SystemPriority, UserPriority
from policies.resource import Resource, Stack
from policies.rule import EachOf
from policies.values import NotJudgeableError
from policies.views.objects import name_of

PRIORITY_CLASS: Final = "kubernetes:scheduling.k8s.io/v1:PriorityClass"
PRIORITY_CLASSES: Final = rf"{re.escape(PRIORITY_CLASS)}(Patch)?"
"""Pattern of the types of a created class, and of an existing class that is adopted."""

USER_PREFIX: Final = UserPriority.HIGH.value.removesuffix("high")
"""Prefix of the names of all user classes."""

SYSTEM_PREFIX: Final = SystemPriority.HIGH.value.removesuffix("high")
"""Prefix of the names of all core services' classes."""


class PriorityClassFacts:
    """One priority class."""

    def __init__(self, resource: Resource) -> None:
        self.urn = resource.urn
        self._resource = resource
        self._props = resource.props

    @property
    def name(self) -> str:
        """Name of the object."""
        return name_of(self._resource)

    @property
    def keeps_owners_value(self) -> bool:
        """Whether the class is adopted without its value, whose order `up` checks in the cluster."""
        return self._resource.type != PRIORITY_CLASS and self._props.at("value").is_absent

    @property
    def value(self) -> int:
        """Priority of its pods."""
        value = self._props.at("value").integer()
        if value is None:
            raise NotJudgeableError("value", "is not shown")
        return value

    @property
    def preemption_policy(self) -> str | None:
        """``Never``, or ``PreemptLowerPriority``, which is also the default."""
        return self._props.at("preemptionPolicy").text()


def is_priority_class(resource: Resource) -> bool:
    """Return whether the resource is a class, created or adopted."""
    return re.fullmatch(PRIORITY_CLASSES, resource.type) is not None


def priority_classes(stack: Stack) -> Iterator[PriorityClassFacts]:
    """Return all classes that the stack creates."""
    return (PriorityClassFacts(resource) for resource in stack if is_priority_class(resource))


USER_CLASSES: Final = EachOf(
    noun="each user priority class",
    types=re.compile(re.escape(PRIORITY_CLASS)),
    find=lambda resource: (PriorityClassFacts(resource),),
    concerns=lambda facts, _: facts.name.startswith(USER_PREFIX),
)
