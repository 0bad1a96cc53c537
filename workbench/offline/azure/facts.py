"""Facts about each Azure input, its place and the effect of changing it, from ``facts.json``, read on first use.

``tools/facts/azure.py`` generates that file and says which facts come from which source; ``facts.schema.json``
describes it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).with_name("facts.json")


@dataclass(frozen=True)
class Input:
    """One input of a type.

    Parameters
    ----------
    path
        Such as ``networkProfile.podCidr``, ``agentPoolProfiles[].count`` or ``addonProfiles{}.enabled``.
    kind
        string, integer, number, boolean, object, list, map; keys for a list that Azure takes as a map with empty
        values; resource for an input that contains other resources, any for an untyped input.
    required
        Whether the object that it belongs to must have it.
    change
        Effect of changing it: update or replace.
    place
        Its path in the surrounding object of Azure's API, such as ``properties.count``; in braces if part of the id.
    values
        Name of its enumeration, empty if it has none.
    """

    path: str
    kind: str
    required: bool
    change: str
    place: str
    values: str

    @property
    def is_in_id(self) -> bool:
        """Whether it is a part of the id, and so not of the body."""
        return self.place.startswith("{")

    @property
    def allowed(self) -> tuple[str | int, ...]:
        """The values that it may have; empty if all are allowed."""
        return tuple(facts().enumerations[self.values]) if self.values else ()


@dataclass(frozen=True)
class Statement:
    """What a source says of some inputs, or what is assumed.

    Parameters
    ----------
    question
        declared (type, required), replaced (by the plug-in), change (what Azure does with another value), absent (what
        it does if the input is left out), cleared (how to clear what it keeps), read (by a refresh).
    answer
        change: accepted, refused. absent: keeps, resets, refused. cleared: never, or what to give. read: read back, not
        read back.
    of
        Inputs, with all that is inside them unless a statement names that; ``*`` for all others.
    source
        Key of ``Facts.sources``; empty if it is assumed.
    assumed
        What to try in an account, if nothing says so.
    note
        When it is so.
    to
        It is so of a change to this value alone. Default: to any.
    """

    question: str
    answer: str
    of: tuple[str, ...]
    source: str = ""
    assumed: str = ""
    note: str = ""
    to: bool | str | None = None


@dataclass(frozen=True)
class ResourceFacts:
    """Facts about one type.

    Parameters
    ----------
    api_version
        Version of the API that the plug-in uses.
    id
        Path of the ARM id, its parts in braces.
    source
        File below ``specification`` of Azure/azure-rest-api-specs.
    rows
        The fields of ``Input``, one list per input, outer inputs before inner ones.
    outputs
        Outputs that only Azure sets: at the top, and inside objects that are inputs.
    kept
        Lists whose elements can also be separate resources: an update without the list keeps them.
    forms
        Pattern of a whole name by input.
    says
        What Azure does with inputs.
    calls
        Requests of the plug-in by operation, with their source; default those of ``Facts.common``.
    errors
        Refusals to expect: code, status, when, retried, instead, and source.
    """

    api_version: str
    id: str
    source: str
    rows: list[list[Any]]
    outputs: tuple[str, ...]
    kept: tuple[str, ...] = ()
    forms: Mapping[str, str] = field(default_factory=dict)
    says: tuple[Statement, ...] = ()
    calls: Mapping[str, Any] = field(default_factory=dict)
    errors: tuple[Mapping[str, Any], ...] = ()

    @cached_property
    def inputs(self) -> Mapping[str, Input]:
        """The inputs by path."""
        return {row[0]: Input(*row) for row in self.rows}


@dataclass(frozen=True)
class Facts:
    """The facts of one release.

    Parameters
    ----------
    read_on
        Date on which the upstream sources were last read.
    release
        Of ``pulumi-azure-native``, whose classes were read.
    resources
        By type token, such as ``azure-native:containerservice:AgentPool``.
    enumerations
        Values by the name of the enumeration.
    sources
        Files (repository, file, version, year) and pages (page, date), by key.
    common
        Of every type that does not say otherwise: statements, calls, order of replacements, what is retried.
    """

    read_on: str
    release: str
    resources: Mapping[str, ResourceFacts]
    enumerations: Mapping[str, tuple[str | int, ...]]
    sources: Mapping[str, Mapping[str, str | int]]
    common: Mapping[str, Any]


@cache
def facts() -> Facts:
    """Return the facts; the file is read once."""
    data = json.loads(DATA.read_bytes())
    for each in (data["common"], *data["resources"].values()):
        each["says"] = tuple(Statement(**{**said, "of": tuple(said["of"])}) for said in each.get("says", ()))
    resources = {type_: ResourceFacts(**each) for type_, each in data["resources"].items()}
    known = (data[name] for name in ("enumerations", "sources", "common"))
    return Facts(data["read_on"], data["release"], resources, *known)


def resource(type_: str) -> ResourceFacts:
    """Return the facts about a type.

    Raises
    ------
    KeyError
        The type is unknown.
    """
    return facts().resources[type_]
