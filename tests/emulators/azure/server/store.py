"""Everything that exists, by ARM id, and the operations under way."""

import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from emulators.azure.server.ids import ArmId
from emulators.azure.server.refusals import group_not_found, not_found
from emulators.core.clock import Clock
from emulators.core.fault_outcome import FaultOutcome, HealthIssue
from emulators.core.refusal import Refusal

SUCCEEDED: Final = "Succeeded"
FAILED: Final = "Failed"
CANCELED: Final = "Canceled"
ENDED: Final = frozenset({SUCCEEDED, FAILED, CANCELED})
"""States of resources without an operation."""


def now() -> str:
    """Return the time that an answer gives for what happens now."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass
class Resource:
    """Something that exists."""

    id: ArmId
    type: str
    """As its service writes it."""
    body: dict[str, Any]
    """As it was sent and completed, without id, name and type; ``properties`` is always there."""
    work: "Operation | None" = None
    """The operation under way. A newer one takes its place, and the older one then ends without effect."""
    remembered: dict[str, Any] = field(default_factory=dict)
    """What Azure knows of it and does not return."""
    is_made_by_azure: bool = False
    """It was not requested by name, so no state has it."""

    @property
    def properties(self) -> dict[str, Any]:
        """What is the type's own."""
        properties: dict[str, Any] = self.body["properties"]
        return properties

    @property
    def state(self) -> str:
        """The provisioning state; types without one are always ready."""
        return str(self.properties.get("provisioningState", SUCCEEDED))

    @state.setter
    def state(self, state: str) -> None:
        self.properties["provisioningState"] = state

    @property
    def is_busy(self) -> bool:
        """Whether Azure works on it."""
        return self.state not in ENDED


@dataclass
class Operation:
    """Work that a request began, as its caller can ask for it."""

    about: ArmId
    type: str
    status: str = "InProgress"
    issues: tuple[HealthIssue, ...] = ()
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    started: str = field(default_factory=now)
    ended: str = ""


End: TypeAlias = Callable[[tuple[HealthIssue, ...]], Iterable[HealthIssue]]
"""Ends work: is given the reasons for which it fails, none if it does not, and returns all that there were."""


class Store:
    """All resources, and how work on them ends."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.operations: dict[str, Operation] = {}
        self.types: set[str] = set()
        """Types that are kept here, in lower case."""
        self.unseen: set[str] = set()
        """Ids, in lower case, of what was written and is not known everywhere yet."""
        self._resources: dict[str, Resource] = {}

    def knows(self, type_: str) -> bool:
        """Return whether things of a type are kept here at all."""
        return type_.lower() in self.types

    def find(self, id_: ArmId | str) -> Resource | None:
        """Return what has an id."""
        key = id_.key if isinstance(id_, ArmId) else id_.lower()
        return self._resources.get(key)

    def get(self, id_: ArmId) -> Resource:
        """Return what has an id, or refuse."""
        found = self.find(id_)
        if found is None:
            raise self.missing(id_)
        return found

    def missing(self, id_: ArmId) -> Refusal:
        """Return the refusal of a request about something that is not there: the group or parent that is missing."""
        group = id_.group
        if group and self.find(group) is None:
            return group_not_found(group.name)
        parent = id_.parent
        if parent and self.find(parent):
            return Refusal("NotFound", 404, f"Resource {id_.name} was not found in {parent.name}.")
        return not_found(id_.text)

    def add(self, resource: Resource) -> None:
        """Let something exist."""
        self._resources[resource.id.key] = resource

    def spread(self, resource: Resource, operation: str) -> None:
        """Let something be unseen for as long as this takes."""
        self.unseen.add(resource.id.key)
        self.clock.later(f"{resource.type}/{operation}", lambda: self.unseen.discard(resource.id.key))

    def remove(self, resource: Resource) -> None:
        """Let something be gone; work on it then ends without effect."""
        resource.work = None
        self._resources.pop(resource.id.key, None)

    def all(self, type_: str = "") -> Iterator[Resource]:
        """Return everything, or everything of a type."""
        yield from [each for each in self._resources.values() if not type_ or each.type == type_]

    def below(self, id_: ArmId, type_: str = "") -> Iterator[Resource]:
        """Return what lies below an id, outermost first."""
        yield from [each for each in self.all(type_) if each.id.is_in(id_)]

    def users(self, id_: ArmId, going: ArmId | None = None) -> list[Resource]:
        """Return what names an id in its body and does not lie below it, or below ``going``."""
        others = (each for each in self.all() if not (each.id.is_in(id_) or (going and each.id.is_in(going))))
        return [each for each in others if _names(each.body, id_.key)]

    def begin(self, resource: Resource, verb: str, outcome: FaultOutcome, end: End) -> Operation:
        """Let Azure work on a resource as long as it does, and as the request's outcome has it.

        Parameters
        ----------
        verb
            ``create``, ``update``, ``upgrade`` or ``delete``.
        end
            Brings the work to its end; given reasons, it has failed. If the work is stuck, or if newer work takes its
            place, it is not called.
        """
        operation = Operation(resource.id, resource.type)
        self.operations[operation.id] = operation
        resource.work = operation

        def finish() -> None:
            if resource.work is not operation:
                operation.status, operation.ended = CANCELED, now()
                return
            resource.work = None
            operation.issues = tuple(end(outcome.issues))
            operation.status, operation.ended = FAILED if operation.issues else SUCCEEDED, now()

        if not outcome.is_stuck:
            self.clock.later(f"{resource.type}/{verb}", finish)
        return operation


def _names(value: Any, key: str) -> bool:
    if isinstance(value, dict):
        return any(_names(inner, key) for inner in value.values())
    if isinstance(value, list):
        return any(_names(element, key) for element in value)
    return isinstance(value, str) and value.lower() == key
