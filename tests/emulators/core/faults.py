"""Faults by rule: which calls they meet, and what happens to those."""

import random
import threading
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveInt, TypeAdapter

from emulators.core.calls import Call


class Moment(StrEnum):
    """When a fault strikes a call."""

    BEFORE = "before"
    """The call has arrived and the cloud has done nothing."""
    AFTER = "after"
    """The cloud has done it, and the answer was lost."""


class _Rule(BaseModel):
    """Which calls a rule meets.

    Parameters
    ----------
    operation, about
        Patterns as of file names: ``eks:Create*``; ``mlrun-dev/gpu*``.
    first
        The first matching call that is met, from 1.
    times
        How many matching calls are met from there; None for all.
    each
        Count for each ``about`` on its own.
    share, seed
        EksResource of those calls that is met, drawn by a generator with this seed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    operation: str = "*"
    about: str = "*"
    first: PositiveInt = 1
    times: PositiveInt | None = None
    each: bool = False
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    seed: int = 0


class ErrorRule(_Rule):
    """The cloud refuses: throttling, access denied, expired credentials, a failure of its own, not found yet."""

    action: Literal["error"] = "error"
    code: str
    status: Annotated[int, Field(ge=400, le=599)] = 400
    message: str = "A fault rule of the emulator says so."


class LostRule(_Rule):
    """The cloud does it, and the connection is reset before the answer."""

    action: Literal["lost"] = "lost"


class SlowRule(_Rule):
    """The cloud takes its time before it does anything, but no longer than the rule holds."""

    action: Literal["slow"] = "slow"
    seconds: NonNegativeFloat


class StuckRule(_Rule):
    """What the call begins never ends."""

    action: Literal["stuck"] = "stuck"


class Issue(BaseModel):
    """Why work failed, such as ``AsgInstanceLaunchFailures`` and what the cloud says with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str
    message: str


class FailedRule(_Rule):
    """What the call begins fails later, for these reasons."""

    action: Literal["create-failed"] = "create-failed"
    issues: Annotated[tuple[Issue, ...], Field(min_length=1)]


class NotYetVisibleRule(_Rule):
    """A role or identity that a call names, made less than ``calls`` calls ago, is not known yet."""

    action: Literal["not-yet-visible"] = "not-yet-visible"
    calls: PositiveInt


class KillRule(_Rule):
    """Processes are killed with all their children when the call arrives; the call gets no answer."""

    action: Literal["kill"] = "kill"
    pids: Annotated[tuple[PositiveInt, ...], Field(min_length=1)]
    moment: Moment = Moment.BEFORE


Rule = Annotated[
    ErrorRule | LostRule | SlowRule | StuckRule | FailedRule | NotYetVisibleRule | KillRule,
    Field(discriminator="action"),
]
RULES: Final[TypeAdapter[tuple[Rule, ...]]] = TypeAdapter(tuple[Rule, ...])
"""Reads and writes rules as JSON."""


@dataclass
class _Counted:
    rule: Rule
    seen: Counter[str] = field(default_factory=Counter)
    draw: random.Random = field(default_factory=random.Random)


class Faults:
    """The rules that hold; safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[_Counted] = []
        self._replaced = threading.Event()

    def replace(self, rules: tuple[Rule, ...]) -> None:
        """Let these rules hold and no others; counting starts anew."""
        with self._lock:
            self._rules = [_Counted(rule, draw=random.Random(rule.seed)) for rule in rules]  # noqa: S311 repeatable
            self._replaced.set()
            self._replaced = threading.Event()

    def wait(self, seconds: float) -> None:
        """Wait so long, or until other rules hold."""
        self._replaced.wait(seconds)

    def of(self, call: Call) -> list[Rule]:
        """Return the rules that meet a call, in the order in which they were given, and count it."""
        with self._lock:
            met = [counted.rule for counted in self._rules if _meets(counted, call)]
        call.faults.extend(rule.action for rule in met)
        return met


def _meets(counted: _Counted, call: Call) -> bool:
    rule = counted.rule
    if not (fnmatchcase(call.operation, rule.operation) and fnmatchcase(call.about, rule.about)):
        return False
    key = call.about if rule.each else ""
    counted.seen[key] += 1
    past = counted.seen[key] - rule.first
    within = past >= 0 and (rule.times is None or past < rule.times)
    return within and counted.draw.random() < rule.share
