"""Results of checks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override


@dataclass(frozen=True)
class Place:
    """A field of an object, or of something else that has a name.

    Parameters
    ----------
    kind, name
        Such as ``Node`` or ``group``, and its name.
    namespace
        Default: it is in none.
    path
        Path of the field. Default: the whole object.
    """

    kind: str
    name: str
    namespace: str = ""
    path: str = ""

    def covers(self, other: "Place") -> bool:
        """Return whether the other place is this one or a field below it."""
        mine, its = ((each.kind, each.namespace, each.name) for each in (self, other))
        return mine == its and (not self.path or f"{other.path}.".startswith((f"{self.path}.", f"{self.path}[")))

    @override
    def __str__(self) -> str:
        """Return kind, namespace, name and path."""
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.kind} {name}{f', {self.path}' if self.path else ''}"


@dataclass(frozen=True)
class Deviation:
    """Something that differs from the contract.

    Parameters
    ----------
    place
        Where.
    problem
        What is wrong, a clause without a full stop.
    expected
        What the contract says instead.
    action
        What to do, a sentence.
    """

    place: Place
    problem: str
    expected: str
    action: str

    def as_json(self) -> dict[str, str]:
        """Return its fields for scripts."""
        return {
            "where": str(self.place),
            "problem": self.problem,
            "expected": self.expected,
            "action": self.action,
        }


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    Parameters
    ----------
    looked_at
        What was compared, such as ``12 nodes``.
    deviations
        Default: none.
    absent
        Why there is nothing to judge, such as ``MLRun is not installed``. Default: there is.
    """

    looked_at: str
    deviations: tuple[Deviation, ...] = ()
    absent: str = ""


@dataclass(frozen=True)
class Verification:
    """A verified cluster.

    Parameters
    ----------
    stack
        Name of its stack.
    outcomes
        Outcome of each check by its id.
    notes
        What to know about the result.
    """

    stack: str
    outcomes: Mapping[str, Outcome]
    notes: tuple[str, ...] = ()

    @property
    def deviations(self) -> tuple[tuple[str, Deviation], ...]:
        """All deviations, each with the id of its check."""
        return tuple((name, each) for name, outcome in self.outcomes.items() for each in outcome.deviations)

    def as_json(self) -> dict[str, Any]:
        """Return its fields for scripts."""
        return {
            "stack": self.stack,
            "result": "deviations" if self.deviations else "clean",
            "notes": list(self.notes),
            "checks": [
                {
                    "id": name,
                    "lookedAt": each.looked_at,
                    "notJudged": each.absent or None,
                    "deviations": [deviation.as_json() for deviation in each.deviations],
                }
                for name, each in self.outcomes.items()
            ],
        }
