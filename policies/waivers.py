"""Waivers of violations and approvals of dangerous changes, with owner, reason and last day.

They come from the reviewed file ``policies/overrides.yaml`` next to the stack files; the command line passes a stack's
waivers to the packs as configuration of their rules, and applies the approvals itself. Once the engine's own exceptions
are generally available, a waiver can be converted to one: rule and reason unchanged, the pattern as
``urn:pulumi:STACK::*::*PATTERN``.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field, StringConstraints, ValidationError

from components.contract.choices import ContractModel

WHOLE_STACK: Final = "stack"
"""Pattern for findings about the stack as a whole."""

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class Accepted(ContractModel):
    """A temporary exception with an owner."""

    longest: ClassVar[timedelta]
    """Longest time from today; permanent exceptions belong in the stack file."""

    stack: _Text = Field(description="Name of the stack.", examples=["dev"])
    resource: _Text = Field(
        description="Pattern of the resource, type::name, * matches anything; in a waiver, stack for the whole stack.",
        examples=["aws:eks/nodeGroup:NodeGroup::dev-legacy*"],
    )
    reason: _Text = Field(description="Reason.", examples=["replaced when the migration is over"])
    owner: _Text = Field(description="Owner.", examples=["ml-platform"])
    ticket: _Text = Field(description="Ticket that tracks it.", examples=["OPS-1234"])
    expires: date = Field(description="Last valid day.", examples=["2026-12-31"])

    @property
    def has_expired(self) -> bool:
        """Whether its last day is over."""
        return self.expires < today()

    @classmethod
    def last_day(cls) -> date:
        """Return the latest day that ``expires`` may be today."""
        return today() + cls.longest

    def covers(self, token: str, name: str) -> bool:
        """Return whether a resource of type ``token`` called ``name`` matches the pattern."""
        pattern = re.escape(self.resource).replace(r"\*", ".*")
        return re.fullmatch(pattern, f"{token}::{name}", re.DOTALL) is not None


class Waiver(Accepted):
    """One accepted violation."""

    longest: ClassVar = timedelta(days=90)

    rule: Annotated[str, Field(pattern=r"^[A-Z]{2}-\d\d$")] = Field(description="Id of the rule.", examples=["HN-06"])

    @property
    def label(self) -> str:
        """What a message calls it."""
        return f"the waiver {self.ticket} of {self.owner} for {self.resource}"


class Loss(StrEnum):
    """Operations that an approval can permit."""

    REPLACE = "replace"
    DELETE = "delete"
    UPDATE = "update"
    """Of a node group: fewer nodes."""


class Approval(Accepted):
    """One approved dangerous change."""

    longest: ClassVar = timedelta(days=14)

    operation: Loss = Field(description="Permitted operation.", examples=["replace"])

    @property
    def label(self) -> str:
        """What a message calls it."""
        return f"the approval {self.ticket} of {self.owner} to {self.operation} {self.resource}"

    def allows(self, stack: str, operation: str, token: str, name: str) -> bool:
        """Return whether it matches this change, even if it has expired."""
        return (self.stack, self.operation) == (stack, operation) and self.covers(token, name)


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice about a waiver."""

    rule: str
    message: str
    fails: bool
    """Whether it fails the run."""


@dataclass(slots=True)
class Waivers:
    """The waivers of one run, and which of them were used."""

    rows: list[Waiver] = field(default_factory=list)
    refused: list[Notice] = field(default_factory=list)
    _used: set[int] = field(default_factory=set)

    def add(self, rule: str, rows: Iterable[Any]) -> None:
        """Add the rows of a rule's configuration; invalid ones are reported."""
        for row in rows:
            try:
                self._add(rule, Waiver.model_validate(row))
            except ValidationError as error:
                wrong = sorted({str(problem["loc"][0]) if problem["loc"] else "the row" for problem in error.errors()})
                self.refused.append(Notice(rule, f"a waiver is invalid: check {', '.join(wrong)}.", fails=True))

    def _add(self, rule: str, waiver: Waiver) -> None:
        if waiver.rule != rule:
            said = f"{waiver.label} is invalid: it is a waiver of {waiver.rule}."
        elif waiver.has_expired:
            said = f"{waiver.label} expired on {waiver.expires}. Fix: correct the resource or renew the waiver."
        elif waiver.expires > (last := Waiver.last_day()):
            said = f"{waiver.label} is invalid: it runs until {waiver.expires}, but {last} is the latest allowed day."
        else:
            self.rows.append(waiver)
            return
        self.refused.append(Notice(rule, said, fails=True))

    def find(self, rule: str, token: str, name: str) -> Waiver | None:
        """Return a waiver of ``rule`` that covers the resource, and mark it as used."""
        return self._find(lambda waiver: waiver.rule == rule and waiver.covers(token, name))

    def find_for_stack(self, rule: str) -> Waiver | None:
        """Return a waiver of ``rule`` for findings about the stack as a whole, and mark it as used."""
        return self._find(lambda waiver: waiver.rule == rule and waiver.resource == WHOLE_STACK)

    def _find(self, fits: Callable[[Waiver], bool]) -> Waiver | None:
        for index, waiver in enumerate(self.rows):
            if fits(waiver):
                self._used.add(index)
                return waiver
        return None

    def notices(self, rule: str) -> Iterator[Notice]:
        """Return the notices after all checks: invalid and unused waivers."""
        yield from (notice for notice in self.refused if notice.rule == rule)
        for index, waiver in enumerate(self.rows):
            if waiver.rule == rule and index not in self._used:
                yield Notice(rule, f"{waiver.label} covers no violation. Fix: remove the row.", fails=False)


def today() -> date:
    """Return the date for which waivers are checked, in UTC."""
    return datetime.now(tz=UTC).date()
