"""Facts about a cloud's resource types, read from its ``facts.json``: inputs, and what sources say about them.

``tools/facts`` generates the files; ``facts.schema.json`` describes them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from typing_extensions import override

from workbench.offline.input_paths import around, inside

ALL_OTHERS: Final = "*"


@dataclass(frozen=True)
class Source:
    """Where facts come from: a file of a repository at a version and its year, or a page and its date."""

    repository: str = ""
    file: str = ""
    version: str = ""
    year: int = 0
    page: str = ""
    date: str = ""

    @override
    def __str__(self) -> str:
        return f"{self.page}, {self.date}" if self.page else f"{self.repository} {self.file}, {self.year}"


@dataclass(frozen=True, kw_only=True)
class Marked:
    """A fact that has a source or is assumed.

    Parameters
    ----------
    source
        Key of ``Facts.sources``.
    assumed
        What to try in an account, instead of a source.

    Raises
    ------
    ValueError
        It has both or neither.
    """

    source: str = ""
    assumed: str = ""

    def __post_init__(self) -> None:
        """Refuse a fact without a mark."""
        if bool(self.source) == bool(self.assumed):
            raise ValueError("must have either a source or, under `assumed`, what to try")


@dataclass(frozen=True, kw_only=True)
class Statement(Marked):
    """What a source says of some inputs, or what is assumed.

    Parameters
    ----------
    question
        declared (type, required), replaced (what the plug-in plans for a change), change (what the cloud does with
        another value), absent (what it does if the input is left out), cleared (how to clear what it keeps), read (by a
        refresh).
    answer
        replaced: the words of ``Input.change``. change: accepted, refused. absent: keeps, resets, refused, stays (the
        plug-in plans an update that leaves the old value). cleared: never, or what to give. read: read back, not read
        back.
    of
        Inputs, with all that is inside them unless a statement names that; ``*`` for all others.
    note
        When it applies, or what follows.
    to
        It applies only to a change to this value. Default: to any.
    alone
        It does not apply to what is inside the inputs.
    """

    question: str
    answer: str
    of: tuple[str, ...]
    note: str = ""
    to: bool | str | None = None
    alone: bool = False


@dataclass(frozen=True, kw_only=True)
class Call(Marked):
    """Requests of the plug-in for an operation: create, update or delete. ``order``: what a replacement does first."""

    operation: str
    answer: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Retried(Marked):
    """Answers after which the plug-in sends a request (empty: any) again, and for how many seconds (0: its default)."""

    request: str = ""
    status: tuple[int, ...] = ()
    code: str = ""
    message: str = ""
    seconds: int = 0


@dataclass(frozen=True, kw_only=True)
class Refusal(Marked):
    """A refusal of the cloud to expect: its code, when it comes, whether it is retried, what to do instead."""

    code: str
    status: int
    when: str
    retried: bool
    instead: str


@dataclass(frozen=True)
class Input:
    """One input of a type.

    Parameters
    ----------
    path
        Such as ``scalingConfig.minSize``, ``taints[].effect`` or ``addonProfiles{}.enabled``.
    kind
        string, integer, number, boolean, object, list, set, map; keys for a list that Azure takes as a map with empty
        values; resource for an input that contains other resources, any for an untyped input.
    required
        Whether the object that it belongs to must have it.
    change
        Effect of changing it: update, replace, replace if removed, replace once set, replace if exchanged; ignored
        is an update for which no request is sent.
    place
        Azure: its path in the surrounding object of the API, such as ``properties.count``; in braces if part of the id.
    values
        Azure: name of its enumeration, empty if it has none.
    """

    path: str
    kind: str
    required: bool
    change: str
    place: str = ""
    values: str = ""

    @property
    def is_in_id(self) -> bool:
        """Whether it is a part of the id, and so not of the body."""
        return self.place.startswith("{")


@dataclass(frozen=True, kw_only=True)
class Said:
    """Facts about a type, or about all types without facts of their own.

    Parameters
    ----------
    says
        Statements about inputs.
    calls
        Requests by operation.
    retries
        Answers after which the plug-in tries again.
    errors
        Refusals to expect.
    """

    says: tuple[Statement, ...] = ()
    calls: tuple[Call, ...] = ()
    retries: tuple[Retried, ...] = ()
    errors: tuple[Refusal, ...] = ()


def answer(says: Iterable[Statement], path: str, question: str) -> Statement | None:
    """Return the statement about an input that answers a question; None if there is none.

    A statement about the input itself takes precedence, then one about what contains it, then that about all others.
    """
    asked = [each for each in says if each.question == question]
    for outer in (*around(path), ALL_OTHERS):
        for each in asked:
            if outer in each.of and not (each.alone and outer != path):
                return each
    return None


@dataclass(frozen=True, kw_only=True)
class Resource(Said):
    """Facts about one type; each cloud's own class adds cloud-specific facts.

    Parameters
    ----------
    source
        File that describes the type.
    rows
        The fields of ``Input``, one list per input, outer inputs before inner ones.
    common
        Facts about every type.
    """

    source: str
    rows: list[list[Any]]
    common: Said = field(default_factory=Said)

    @cached_property
    def inputs(self) -> Mapping[str, Input]:
        """The inputs by path."""
        return {row[0]: Input(*row) for row in self.rows}

    def inside(self, path: str) -> dict[str, Input]:
        """Return the inputs inside an object, or inside the objects of a list or map, by their own name.

        Parameters
        ----------
        path
            Path of the object; empty for the resource itself.
        """
        return {name: self.inputs[found] for name, found in inside(self.inputs, path).items()}

    def said(self, path: str, question: str) -> Statement | None:
        """Return the statement about an input that answers a question of ``Statement``; None if there is none."""
        return answer(self.says, path, question) or answer(self.common.says, path, question)

    def if_absent(self, path: str) -> str:
        """Return what the cloud does if the input is left out, in the words of ``Statement``; empty if unknown."""
        found = self.said(path, "absent")
        return found.answer if found else ""

    def operations(self) -> Iterator[Call]:
        """Return the requests of each operation, and the order of a replacement."""
        own = {each.operation for each in self.calls}
        yield from (each for each in self.common.calls if each.operation not in own)
        yield from self.calls


R = TypeVar("R", bound=Resource)


@dataclass(frozen=True)
class Facts(Generic[R]):
    """The facts of one release.

    Parameters
    ----------
    read_on
        Date on which the upstream sources were last read.
    release
        Of Pulumi's package, whose classes were read.
    sources
        By the key that facts are marked with.
    resources
        By type token, such as ``aws:eks/nodeGroup:NodeGroup``.
    common
        Facts about all types without facts of their own.
    enumerations
        Values by the name of the enumeration.
    """

    read_on: str
    release: str
    sources: Mapping[str, Source]
    resources: Mapping[str, R]
    common: Said
    enumerations: Mapping[str, tuple[str | int, ...]] = field(default_factory=dict)

    def kept(self, cloud: str, path: str, known: R, fact: str) -> str:
        """Return the warning about an input that is left out, but stays in the cloud; it names no value.

        Parameters
        ----------
        cloud
            Its name.
        path, fact
            The input as the change and as the facts name it.
        known
            Facts about the type.
        """
        found, cleared = known.said(fact, "absent"), known.said(fact, "cleared")
        where = f" ({self.sources[found.source]})" if found and found.source else ""
        how = f"To change it, set {cleared.answer if cleared else 'another value'}."
        if cleared and cleared.answer == "never":
            how = "It cannot be cleared, only changed; another resource has none."
        note = found.note if found else ""
        return f"{path} is no longer set, but {cloud} keeps its value{where}. {how} {note}".strip()


_PARTS: Final = {"says": Statement, "calls": Call, "retries": Retried, "errors": Refusal}


def read(file: Path, kind: type[R]) -> Facts[R]:
    """Return the facts of a file, with those of each type as ``kind``."""
    data = json.loads(file.read_bytes())
    common = Said(**_parts(data["common"]))
    resources = {type_: kind(**{**_parts(each), "common": common}) for type_, each in data["resources"].items()}
    sources = {key: Source(**each) for key, each in data["sources"].items()}
    return Facts(data["read_on"], data["release"], sources, resources, common, data.get("enumerations", {}))


def _parts(data: Mapping[str, Any]) -> dict[str, Any]:
    made = {key: tuple(part(**_frozen(each)) for each in data.get(key, ())) for key, part in _PARTS.items()}
    return {**data, **made}


def _frozen(each: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in each.items()}
